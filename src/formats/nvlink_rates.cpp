#include "formats/nvlink_rates.hpp"

#include <algorithm>
#include <cmath>

namespace isleway::formats {
namespace {

struct Generation {
  int sm;
  double per_link;  ///< GB/s, as NCCL counts them
  int links;        ///< at one GPU
};

/// NCCL's src/graph/topo.h over the years: 21 for one V100 or A100 link until 2.11, 20 for
/// one H100 link until 2.19 and 20.6 since, 40 for one Blackwell link until 2.26.
constexpr Generation kGenerations[] = {
    {90, 20.6, 18},  {100, 40.1, 18}, {80, 20.0, 12}, {70, 20.0, 6},  {90, 20.0, 18},
    {100, 40.0, 18}, {60, 18.0, 4},   {86, 12.0, 4},  {80, 21.0, 12}, {70, 21.0, 6}};
constexpr double kPrintError = 0.06;  ///< one decimal is printed

bool same_generation(int a, int b) { return a / 10 == b / 10 && (a == 86) == (b == 86); }

/// Links in use at the fullest GPU; -1 when the generation does not explain the rates.
int most_links(const Generation& generation, const std::vector<std::vector<double>>& rates) {
  int most = 0;
  for (const std::vector<double>& of_gpu : rates) {
    int links = 0;
    for (const double rate : of_gpu) {
      const double exact = rate / generation.per_link;
      if (!(exact > 0.5 && exact < 100)) return -1;
      const int count = static_cast<int>(std::lround(exact));
      if (std::abs(count * generation.per_link - rate) > kPrintError) return -1;
      links += count;
    }
    most = std::max(most, links);
  }
  return most <= generation.links ? most : -1;
}

}  // namespace

int NvlinkReading::count(double rate) const {
  return static_cast<int>(std::lround(std::clamp(rate / per_link, 0.0, 1000.0)));
}

std::optional<NvlinkReading> read_nvlink_rates(const std::vector<std::vector<double>>& rates,
                                               int sm) {
  const Generation* best = nullptr;
  for (const Generation& generation : kGenerations) {
    if (sm > 0 && !same_generation(sm, generation.sm)) continue;
    const int most = most_links(generation, rates);
    if (most <= 0) continue;
    if (most == generation.links) return NvlinkReading{generation.sm, generation.per_link};
    if (!best) best = &generation;
  }
  if (!best) return std::nullopt;
  return NvlinkReading{best->sm, best->per_link};
}

}  // namespace isleway::formats
