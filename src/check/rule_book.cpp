#include <algorithm>

#include "check/rule_reader.hpp"
#include "isleway/core.hpp"

namespace isleway::check {

const char* name_of(Severity severity) {
  switch (severity) {
    case Severity::critical: return "critical";
    case Severity::warning: return "warning";
    case Severity::unknown: return "unknown";
    case Severity::note: return "note";
    case Severity::not_a_fault: return "not a fault";
    case Severity::good: return "good";
  }
  return "";
}

const char* name_of(Sure sure) {
  switch (sure) {
    case Sure::certain: return "certain";
    case Sure::likely: return "likely";
    case Sure::possible: return "possible";
  }
  return "";
}

Result<void> RuleBook::add(const std::string& text, const std::string& name) {
  auto file = YamlFile::parse(text, name);
  if (!file) return tl::unexpected(file.error());
  YamlMap map(*file, file->root(), "the file");
  for (const auto& node : map.list("rules")) {
    Rule rule = read_rule(*file, node);
    const auto known = std::find_if(rules.begin(), rules.end(),
                                    [&](const Rule& other) { return other.id == rule.id; });
    if (known == rules.end()) rules.push_back(std::move(rule));
    else *known = std::move(rule);
  }
  map.finish();
  if (!file->ok()) return tl::unexpected(*file->error());
  return {};
}

namespace {

/// A table of rules/, by the reader of its kind.
template <class T>
Result<void> load_table(const std::filesystem::path& file, T& table) {
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  auto read = T::from_yaml(*text, file.string());
  if (!read) return tl::unexpected(read.error());
  table = *std::move(read);
  return {};
}

Result<std::vector<std::filesystem::path>> yaml_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  if (error)
    return fail("the folder of rules cannot be read: " + error.message(), "rules/faults/*.yaml", "",
                {folder.string()});
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Result<RuleBook> RuleBook::load(const std::filesystem::path& folder) {
  RuleBook book;
  for (const auto& loaded : {load_table(folder / "products.yaml", book.products),
                             load_table(folder / "xid.yaml", book.xids),
                             load_table(folder / "versions.yaml", book.versions),
                             load_table(folder / "profile.yaml", book.profile),
                             load_table(folder / "thresholds.yaml", book.thresholds)})
    if (!loaded) return tl::unexpected(loaded.error());
  const auto files = yaml_files(folder / "faults");
  if (!files) return tl::unexpected(files.error());
  for (const auto& file : *files) {
    const auto text = read_file(file);
    if (!text) return tl::unexpected(text.error());
    if (auto added = book.add(*text, file.string()); !added) return tl::unexpected(added.error());
  }
  return book;
}

}  // namespace isleway::check
