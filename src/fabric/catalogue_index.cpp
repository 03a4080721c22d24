#include "fabric/catalogue_index.hpp"

#include <algorithm>

#include "isleway/core/text.hpp"

namespace isleway {
namespace {

/// A plain or quoted scalar, without a comment behind it.
std::string scalar(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'')) {
    const auto end = text.find(text.front(), 1);
    return std::string(text.substr(1, end == std::string_view::npos ? end : end - 1));
  }
  return std::string(trim(text.substr(0, text.find(" #"))));
}

/// "[a, b]", or one scalar.
std::vector<std::string> scalars(std::string_view text) {
  text = trim(text);
  if (!text.starts_with('[')) return {scalar(text)};
  std::vector<std::string> all;
  for (const std::string_view piece : split(text.substr(1, text.find(']') - 1), ','))
    if (std::string one = scalar(piece); !one.empty()) all.push_back(std::move(one));
  return all;
}

}  // namespace

std::optional<CatalogueEntry> read_entry(std::string_view text) {
  CatalogueEntry entry;
  entry.status = "released";
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, colon), value = line.substr(colon + 1);
    if (key == "name") entry.name = scalar(value);
    if (key == "title") entry.title = scalar(value);
    if (key == "status") entry.status = scalar(value);
    if (key == "aliases") entry.aliases = scalars(value);
  }
  if (entry.name.empty()) return std::nullopt;
  if (entry.title.empty()) entry.title = entry.name;
  return entry;
}

std::vector<std::filesystem::path> yaml_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error))
    if (it->path().extension() == ".yaml") files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace isleway
