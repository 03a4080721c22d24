#include "formats/pci.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr double kGigatransfers[] = {2.5, 5, 8, 16, 32, 64};
constexpr const char* kSpeedText[] = {"2.5 GT/s PCIe",  "5.0 GT/s PCIe",  "8.0 GT/s PCIe",
                                      "16.0 GT/s PCIe", "32.0 GT/s PCIe", "64.0 GT/s PCIe"};

}  // namespace

std::string canonical_bus_id(std::string_view text) {
  std::string id = to_lower(trim(text));
  const std::vector<std::string_view> parts = split(id, ':');
  if (parts.size() == 2) return "0000:" + id;
  if (parts.size() != 3 || parts[0].size() <= 4) return id;
  const std::size_t zeros = parts[0].size() - 4;
  if (parts[0].find_first_not_of('0') < zeros) return id;
  return id.substr(zeros);
}

std::optional<std::string> bus_id_from_packed(std::string_view hex) {
  const auto packed = parse_int(hex, 16);
  if (!packed || *packed < 0 || *packed >> 52 != 0) return std::nullopt;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", *packed >> 20, (*packed >> 12) & 0xff,
                     (*packed >> 4) & 0xff, *packed & 0xf);
}

bool is_placeholder_bus_id(std::string_view bus_id) {
  return starts_with_ignoring_case(bus_id, "ffff:");
}

int pcie_generation(std::string_view link_speed) {
  const auto words = split_words(link_speed);
  if (words.empty()) return 0;
  const auto speed = parse_double(words[0]);
  if (!speed) return 0;
  for (int i = 0; i < 6; ++i)
    if (std::abs(*speed - kGigatransfers[i]) < 0.01) return i + 1;
  return 0;
}

const char* pcie_speed_text(int generation) {
  return generation >= 1 && generation <= 6 ? kSpeedText[generation - 1] : "";
}

PcieWire wire_for_rate(double gigabytes_per_second, const double (&per_lane)[6], double tolerance) {
  for (const auto& [oldest, newest] : {std::pair{3, 6}, std::pair{1, 2}})
    for (const int lanes : {16, 8, 4, 2, 1})
      for (int generation = oldest; generation <= newest; ++generation)
        if (std::abs(per_lane[generation - 1] * lanes - gigabytes_per_second) <= tolerance)
          return {generation, lanes};
  return {};
}

}  // namespace isleway::formats
