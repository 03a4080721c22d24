#include "nccl/measured.hpp"

namespace isleway::nccl {
namespace {

constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;

struct Known {
  int first_sm, last_sm;
  Setting setting;
  MeasuredRange range;
};

// Ada and desktop Blackwell (89, 120) are joined over PCIe; their tables are few.
constexpr Known kKnown[] = {
    {70, 75, Setting::one_node, {4, 8 * kGiB}},
    {70, 75, Setting::several_nodes, {4, 32 * kMiB}},
    {80, 86, Setting::one_node, {4, 8 * kGiB}},
    {80, 86, Setting::several_nodes, {4, 2 * kGiB}},
    {89, 89, Setting::one_node, {8, 2 * kGiB}},
    {90, 90, Setting::one_node, {8, 16 * kGiB}},
    {90, 90, Setting::several_nodes, {8, 16 * kGiB}},
    {100, 103, Setting::one_node, {1 * kKiB, 32 * kGiB}},
    {100, 103, Setting::several_nodes, {1 * kKiB, 32 * kGiB}},
    {100, 103, Setting::rack, {512 * kMiB, 16 * kGiB}},
    {120, 121, Setting::one_node, {8 * kGiB, 8 * kGiB}},
    {120, 121, Setting::several_nodes, {1 * kKiB, 8 * kGiB}},
};

}  // namespace

std::optional<MeasuredRange> measured_range(int sm, Setting setting) {
  for (const Known& known : kKnown)
    if (sm >= known.first_sm && sm <= known.last_sm && setting == known.setting) return known.range;
  return {};
}

}  // namespace isleway::nccl
