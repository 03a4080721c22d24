#include "plan/stages.hpp"

#include <algorithm>
#include <functional>

namespace isleway::plan {
namespace {

std::vector<int> even_counts(int layers, int stages) {
  const int base = layers / stages, more = layers % stages;
  std::vector<int> counts(static_cast<std::size_t>(stages), base);
  // Those with one more stand in the middle; with one place short, the last stage is spared.
  const int first = (stages - more) / 2;
  for (int i = 0; i < more; ++i) ++counts[static_cast<std::size_t>(first + i)];
  return counts;
}

/// Each further layer goes to the stage that is then done first.
std::vector<int> counts_by_speed(int layers, int stages, const std::vector<double>& speeds) {
  std::vector<int> counts(static_cast<std::size_t>(stages), 0);
  const auto done = [&](int stage) {
    const auto i = static_cast<std::size_t>(stage);
    return (counts[i] + 1) / speeds[i % speeds.size()];
  };
  for (int layer = 0; layer < layers; ++layer) {
    int next = 0;
    for (int stage = 1; stage < stages; ++stage)
      if (done(stage) < done(next)) next = stage;
    ++counts[static_cast<std::size_t>(next)];
  }
  return counts;
}

}  // namespace

std::vector<StageLayers> split_layers(int layers, int stages, const std::vector<double>& speeds) {
  const bool alike =
      std::adjacent_find(speeds.begin(), speeds.end(), std::not_equal_to<>()) == speeds.end();
  std::vector<StageLayers> all;
  int next = 0;
  for (const int count :
       alike ? even_counts(layers, stages) : counts_by_speed(layers, stages, speeds)) {
    all.push_back({next, next + count});
    next += count;
  }
  return all;
}

}  // namespace isleway::plan
