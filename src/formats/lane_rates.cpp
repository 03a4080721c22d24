#include "formats/lane_rates.hpp"

namespace isleway::formats {
namespace {

struct Generation {
  std::string_view name;
  double signal, nominal;
};
/// Source: InfiniBand Trade Association, https://www.infinibandta.org/infiniband-roadmap/
constexpr Generation kGenerations[] = {
    {"SDR", 2.5, 2.5},      {"DDR", 5, 5},        {"QDR", 10, 10},
    {"FDR10", 10.3125, 10}, {"FDR", 14.0625, 14}, {"EDR", 25.78125, 25},
    {"HDR", 53.125, 50},    {"NDR", 106.25, 100}, {"XDR", 212.5, 200}};

const Generation* find(std::string_view name) {
  for (const Generation& generation : kGenerations)
    if (generation.name == name) return &generation;
  return nullptr;
}

}  // namespace

std::optional<double> signal_lane_rate(std::string_view generation) {
  const Generation* found = find(generation);
  return found ? std::optional(found->signal) : std::nullopt;
}

std::optional<double> nominal_lane_rate(std::string_view generation) {
  const Generation* found = find(generation);
  return found ? std::optional(found->nominal) : std::nullopt;
}

}  // namespace isleway::formats
