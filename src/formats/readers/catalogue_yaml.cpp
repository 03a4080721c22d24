// Machines as the catalogue describes them, given as a file.
#include <algorithm>
#include <array>
#include <string>

#include "isleway/core/text.hpp"
#include "isleway/formats.hpp"

namespace isleway::formats {
namespace {

constexpr const char* kName = "yaml";
constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr int kMostDepth = 64;

constexpr std::string_view kKeys[] = {"name",  "title", "aliases", "cpus",   "gpus",
                                      "nics",  "pcie",  "nvlink",  "source", "sources",
                                      "hosts", "trays", "status",  "c2c"};

/// Top-level keys that machine files have.
int known_keys(std::string_view text) {
  std::array<bool, std::size(kKeys)> seen{};
  for (const std::string_view line : split_lines(text)) {
    const auto key = std::find(std::begin(kKeys), std::end(kKeys), line.substr(0, line.find(':')));
    if (key != std::end(kKeys) && line.find(':') != std::string_view::npos)
      seen[static_cast<std::size_t>(key - std::begin(kKeys))] = true;
  }
  return static_cast<int>(std::count(seen.begin(), seen.end(), true));
}

int recognise(std::string_view text) {
  const int known = known_keys(text);
  return known >= 3 ? 90 : known == 2 ? 60 : 0;
}

/// The YAML library recurses: hostile nesting would end the program. Counts opening brackets
/// and dashes in one line, and levels of indentation, without regard for quotes.
bool is_too_deep(std::string_view text) {
  int flow = 0;
  for (const std::string_view line : split_lines(text)) {
    int inline_levels = 0;
    std::size_t i = 0;
    for (; i < line.size() && (line[i] == ' ' || line[i] == '-' || line[i] == '?'); ++i)
      if (line[i] != ' ') ++inline_levels;
    const int indentation = static_cast<int>(std::min<std::size_t>(i, 1000));
    for (; i < line.size(); ++i) {
      if (line[i] == '[' || line[i] == '{') ++flow;
      if ((line[i] == ']' || line[i] == '}') && flow > 0) --flow;
      if (flow > kMostDepth) return true;
    }
    if (inline_levels > kMostDepth || indentation > 4 * kMostDepth) return true;
  }
  return false;
}

Result<Document> read_yaml(std::string_view text, const ReadContext& context) {
  if (text.size() > kMostBytes)
    return fail("is larger than any machine file", "at most 1 MiB", {}, {context.file});
  if (is_too_deep(text))
    return fail("is nested too deeply", "at most 64 levels", {}, {context.file});
  auto unit = context.catalogue->unit_from_yaml(std::string(text), context.file);
  if (!unit) return tl::unexpected(unit.error());
  return Document{kName, *std::move(unit), {}};
}

}  // namespace

extern const Reader catalogue_yaml_reader;
const Reader catalogue_yaml_reader = {kName, "machine file of the catalogue", recognise, read_yaml};

}  // namespace isleway::formats
