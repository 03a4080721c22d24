#include "fabric/yaml_units.hpp"

#include <fmt/format.h>

#include <cmath>

#include "isleway/core/text.hpp"

namespace isleway {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr Unit kRates[] = {
    {"Tbps", 1e12 / 8}, {"Tb/s", 1e12 / 8}, {"Gbps", 1e9 / 8}, {"Gb/s", 1e9 / 8}, {"Mbps", 1e6 / 8},
    {"Mb/s", 1e6 / 8},  {"TB/s", 1e12},     {"GB/s", 1e9},     {"MB/s", 1e6},
};
constexpr Unit kTimes[] = {{"ps", 1e-12}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr Unit kSizes[] = {
    {"KiB", 1024.}, {"MiB", 1048576.}, {"GiB", 1073741824.}, {"TiB", 1099511627776.},
    {"KB", 1e3},    {"MB", 1e6},       {"GB", 1e9},          {"TB", 1e12},
};

/// The number before the first unit that ends the text, times that unit.
template <std::size_t N>
std::optional<double> parse_quantity(std::string_view text, const Unit (&units)[N]) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    const auto number = parse_double(text.substr(0, text.size() - unit.name.size()));
    if (!number || !std::isfinite(*number) || *number < 0) return std::nullopt;
    return *number * unit.factor;
  }
  return std::nullopt;
}

constexpr int kMaxCpus = 8192;
constexpr std::int64_t kMaxNumber = 1'000'000;  ///< at the end of a name

}  // namespace

std::optional<Rate> parse_rate(std::string_view text) {
  const auto value = parse_quantity(text, kRates);
  if (!value || *value > 1e18) return std::nullopt;
  return Rate::bytes_per_second(*value);
}

std::optional<Time> parse_time(std::string_view text) {
  const auto value = parse_quantity(text, kTimes);
  if (!value || *value > 1e6) return std::nullopt;
  return Time::seconds(*value);
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto value = parse_quantity(text, kSizes);
  if (!value || *value > 1e18) return std::nullopt;
  return Bytes(static_cast<std::int64_t>(*value));
}

std::optional<std::vector<std::string>> expand_range(std::string_view text, std::size_t limit) {
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) return std::vector<std::string>{std::string(text)};
  auto digits = dots;
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') --digits;
  const auto first = parse_int(text.substr(digits, dots - digits));
  const auto last = parse_int(text.substr(dots + 2));
  if (!first || !last || *last < *first || *last > kMaxNumber ||
      std::size_t(*last - *first) >= limit)
    return std::nullopt;
  std::vector<std::string> names;
  for (auto i = *first; i <= *last; ++i)
    names.push_back(fmt::format("{}{}", text.substr(0, digits), i));
  return names;
}

std::optional<std::string> cpu_list_to_mask(std::string_view list) {
  std::vector<std::uint32_t> words;
  for (const std::string_view piece : split(list, ',')) {
    const auto dash = piece.find('-');
    const auto first = parse_int(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int(piece.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMaxCpus) return std::nullopt;
    if (words.size() <= std::size_t(*last / 32)) words.resize(std::size_t(*last / 32) + 1);
    for (auto cpu = *first; cpu <= *last; ++cpu)
      words[std::size_t(cpu / 32)] |= std::uint32_t{1} << (cpu % 32);
  }
  std::string mask;
  for (auto word = words.rbegin(); word != words.rend(); ++word)
    mask += fmt::format("{}{:08x}", mask.empty() ? "" : ",", *word);
  return mask;
}

}  // namespace isleway
