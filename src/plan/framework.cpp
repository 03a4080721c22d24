#include <array>
#include <vector>

#include "isleway/core/text.hpp"
#include "isleway/plan/train.hpp"

namespace isleway::plan {
namespace {

struct Entry {
  const char* name;
  Framework framework;
};

Framework early_megatron() {
  Framework framework;
  framework.tensor_overlap = framework.data_overlap = framework.pipeline_overlap = false;
  framework.node_limited = framework.fused_attention = false;
  framework.host = 3;            // Python between all kernels
  framework.gradient_bytes = 2;  // fp16 as they are
  return framework;
}

Framework torchtitan() {
  Framework framework;
  framework.tensor_overlap = framework.newest_attention = false;
  framework.host = 2;
  framework.pointwise = 1.5;   // partly compiled
  framework.logit_bytes = 12;  // the loss is not fused: two 32-bit copies between 16-bit ones
  framework.cheap = model::Recompute::alternate;
  return framework;
}

/// Tensor-parallel traffic in pieces beside the products that need or make it.
Framework asynchronous(Framework framework) {
  framework.tensor_overlap = true;
  return framework;
}

}  // namespace

Result<Framework> parse_framework(std::string_view text) {
  const std::array<Entry, 4> all = {{{"megatron", {}},
                                     {"megatron-2021", early_megatron()},
                                     {"torchtitan", torchtitan()},
                                     {"torchtitan-async-tp", asynchronous(torchtitan())}}};
  std::vector<std::string> known;
  for (const Entry& entry : all) {
    if (equal_ignoring_case(entry.name, text)) return entry.framework;
    known.emplace_back(entry.name);
  }
  return fail_unknown("framework", text, known);
}

}  // namespace isleway::plan
