#include "formats/nccl_tests_lines.hpp"

#include <algorithm>
#include <array>

#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The word after `label`, or empty.
std::string_view word_after(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + label.size());
  const std::size_t start = rest.find_first_not_of(" \t:");
  if (start == std::string_view::npos) return {};
  return rest.substr(start, rest.find_first_of(" \t", start) - start);
}

}  // namespace

std::string nccl_version_of(std::int64_t code) {
  const std::int64_t base = code >= 10000 ? 10000 : 1000;
  return std::to_string(code / base) + '.' + std::to_string(code % base / 100) + '.' +
         std::to_string(code % 100);
}

std::optional<NcclTestsColumns> parse_nccl_tests_heading(std::string_view line) {
  std::vector<std::string_view> words = split_words(line);
  while (!words.empty() && (words[0] == "#" || words[0] == ">")) words.erase(words.begin());
  if (words.size() < 3) return std::nullopt;
  const bool first_version = words[0] == "bytes" && words[1] == "N";
  if (!first_version && (words[0] != "size" || words[1] != "count")) return std::nullopt;
  if (words[2] != "type") return std::nullopt;
  const auto place = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) - words.begin();
  };
  const auto has = [&](std::string_view word) {
    return std::count(words.begin(), words.end(), word);
  };
  NcclTestsColumns columns;
  columns.milliseconds = first_version;
  columns.redop = has("redop") > 0 || (first_version && has("op") > 0);
  columns.root = has("root") > 0;
  columns.has_sides = has("busbw") > 0;
  // "i_min i_max i_p99 i_cv%" after each side.
  for (auto i = static_cast<std::size_t>(place("busbw")); i < words.size(); ++i) {
    if (i > static_cast<std::size_t>(place("busbw")) &&
        (words[i] == "time" || words[i] == "cputime"))
      break;
    columns.in_between += words[i].substr(0, 2) == "i_";
  }
  return columns;
}

std::optional<NcclTestsRank> parse_nccl_tests_rank(std::string_view line) {
  const std::vector<std::string_view> words = split_words(line);
  const auto at = std::find(words.begin(), words.end(), "Rank");
  if (at == words.end() || at - words.begin() > 2 || words.end() - at < 6) return std::nullopt;
  const auto on = std::find(at, words.end(), "on");
  const auto rank = parse_int(*(at + 1));
  constexpr std::int64_t most = 1 << 20;
  if (!rank || *rank < 0 || *rank > most || words.end() - on < 4 || *(on + 2) != "device")
    return std::nullopt;
  NcclTestsRank found;
  found.rank = static_cast<int>(*rank);
  found.host = std::string(*(on + 1));
  // "[0x1b]" or "[0000:1b:00]", then the product's name.
  const std::size_t bracket = line.find(']');
  if (bracket != std::string_view::npos) found.device = std::string(trim(line.substr(bracket + 1)));
  return found;
}

std::string_view nccl_tests_program(std::string_view line) {
  static constexpr std::array<std::string_view, 11> programs = {
      "all_reduce", "all_gather", "reduce_scatter", "broadcast", "alltoallv", "alltoall",
      "sendrecv",   "scatter",    "gather",         "hypercube", "reduce"};
  const std::size_t end = line.find("_perf");
  if (end == std::string_view::npos) return {};
  const std::string_view before = line.substr(0, end);
  for (const std::string_view program : programs) {
    if (before.size() < program.size() || before.substr(before.size() - program.size()) != program)
      continue;
    const std::size_t start = before.size() - program.size();
    const char left = start == 0 ? ' ' : before[start - 1];
    if (left == ' ' || left == '/' || left == '\t' || left == '"' || left == '\'' || left == '=')
      return program;
  }
  return {};
}

std::string nccl_version_in(std::string_view line) {
  if (const auto code = parse_int(word_after(line, "nccl-library=")); code && *code > 1000)
    return nccl_version_of(*code);
  const std::string_view version = word_after(line, "NCCL version ");
  const std::size_t end = version.find_first_not_of("0123456789.");
  const std::string_view number = version.substr(0, end);
  return number.size() >= 3 && number.size() < 16 && is_digit(number[0]) ? std::string(number)
                                                                         : std::string();
}

}  // namespace isleway::formats
