#include "plan/training_constants.hpp"

#include <array>
#include <string>

namespace isleway::plan {

Result<TrainingConstants> TrainingConstants::read(const Parts& parts,
                                                  const std::string& generation) {
  TrainingConstants all;
  struct Entry {
    const char* key;
    double TrainingConstants::*member;
    double unit;
  };
  static constexpr std::array<Entry, 12> kEntries = {{
      {"train.tensor_hidden", &TrainingConstants::tensor_hidden, 1},
      {"train.expert_hidden", &TrainingConstants::expert_hidden, 1},
      {"train.data_hidden", &TrainingConstants::data_hidden, 1},
      {"train.beside", &TrainingConstants::beside, 1},
      {"train.sustained", &TrainingConstants::sustained, 1},
      {"train.launches", &TrainingConstants::launches, 1},
      {"train.collective_launch", &TrainingConstants::collective_launch, 1e-6},
      {"train.pointwise", &TrainingConstants::pointwise, 1},
      {"train.step_overhead", &TrainingConstants::step_overhead, 1e-6},
      {"train.optimizer_rate", &TrainingConstants::optimizer_rate, 1},
      {"train.fragmentation", &TrainingConstants::fragmentation, 1},
      {"train.context", &TrainingConstants::context_bytes, 1e9},
  }};
  const auto missing = [](const std::string& key) {
    return fail("there is no constant " + key, "one in machines/parts");
  };
  for (const Entry& entry : kEntries) {
    const Constant* constant = parts.constant(entry.key);
    if (constant == nullptr) return missing(entry.key);
    all.*entry.member = constant->value * entry.unit;
  }
  if (generation.empty()) return all;
  const std::string key = "train.sustained_" + generation;
  const Constant* sustained = parts.constant(key);
  if (sustained == nullptr) return missing(key);
  all.sustained *= sustained->value;
  return all;
}

}  // namespace isleway::plan
