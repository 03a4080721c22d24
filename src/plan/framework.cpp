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
  framework.node_limited = false;
  framework.host = 3;  // Python between all kernels
  return framework;
}

Framework torchtitan() {
  Framework framework;
  framework.tensor_overlap = false;
  framework.host = 2;
  framework.pointwise = 2;  // partly compiled
  return framework;
}

}  // namespace

Result<Framework> parse_framework(std::string_view text) {
  const std::array<Entry, 3> all = {
      {{"megatron", {}}, {"megatron-2021", early_megatron()}, {"torchtitan", torchtitan()}}};
  std::vector<std::string> known;
  for (const Entry& entry : all) {
    if (equal_ignoring_case(entry.name, text)) return entry.framework;
    known.emplace_back(entry.name);
  }
  return fail_unknown("framework", text, known);
}

}  // namespace isleway::plan
