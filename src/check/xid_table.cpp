#include "fabric/yaml_reader.hpp"
#include "isleway/check/xid.hpp"

namespace isleway::check {
namespace {

Severity severity_of(YamlFile& file, YamlMap& map, const char* key, Severity fallback) {
  if (!map.has(key)) return fallback;
  const std::string text = map.text(key);
  for (const Severity s : {Severity::critical, Severity::warning, Severity::note})
    if (text == name_of(s)) return s;
  file.fail_unknown(map.node(), key, text, {"critical", "warning", "note"});
  return fallback;
}

std::map<int, XidMeaning> read_codes(YamlFile& file, const std::vector<YAML::Node>& list) {
  std::map<int, XidMeaning> codes;
  for (const auto& node : list) {
    YamlMap map(file, node, "a number");
    const int code = map.integer("code", -1, 0, 1'000'000);
    XidMeaning meaning;
    meaning.title = map.required_text("title");
    meaning.action = map.required_text("action");
    meaning.severity = severity_of(file, map, "severity", Severity::warning);
    meaning.nonfatal = severity_of(file, map, "nonfatal", meaning.severity);
    meaning.follows = map.integers("follows", 0, 1'000'000);
    meaning.follows_sxid = map.flag("follows_sxid", false);
    meaning.application = map.flag("application", false);
    map.finish();
    codes.insert_or_assign(code, std::move(meaning));
  }
  return codes;
}

}  // namespace

Result<XidTable> XidTable::from_yaml(const std::string& text, const std::string& name) {
  auto file = YamlFile::parse(text, name);
  if (!file) return tl::unexpected(file.error());
  YamlMap map(*file, file->root(), "the file");
  XidTable table;
  table.xids = read_codes(*file, map.list("xids"));
  table.sxids = read_codes(*file, map.list("sxids"));
  map.finish();
  if (!file->ok()) return tl::unexpected(*file->error());
  return table;
}

}  // namespace isleway::check
