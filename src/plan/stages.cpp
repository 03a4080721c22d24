#include "plan/stages.hpp"

namespace isleway::plan {

std::vector<StageLayers> split_layers(int layers, int stages) {
  const int base = layers / stages, more = layers % stages;
  std::vector<int> counts(static_cast<std::size_t>(stages), base);
  // Those with one more stand in the middle; with one place short, the last stage is spared.
  const int first = (stages - more) / 2;
  for (int i = 0; i < more; ++i) ++counts[static_cast<std::size_t>(first + i)];
  std::vector<StageLayers> all;
  int next = 0;
  for (const int count : counts) {
    all.push_back({next, next + count});
    next += count;
  }
  return all;
}

}  // namespace isleway::plan
