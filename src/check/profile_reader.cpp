#include "fabric/yaml_reader.hpp"
#include "isleway/check/profile.hpp"

namespace isleway::check {
namespace {

Severity read_severity(YamlFile& file, YamlMap& map, const char* key, Severity fallback) {
  const std::string text = map.text(key, name_of(fallback));
  for (const Severity s : {Severity::critical, Severity::warning, Severity::note})
    if (text == name_of(s)) return s;
  file.fail_unknown(map.node(), key, text, {"critical", "warning", "note"});
  return fallback;
}

}  // namespace

Result<Profile> Profile::from_yaml(const std::string& text, const std::string& name) {
  auto file = YamlFile::parse(text, name);
  if (!file) return tl::unexpected(file.error());
  YamlMap map(*file, file->root(), "the file");
  Profile profile;
  for (const auto& node : map.list("profile")) {
    YamlMap entry(*file, node, "an entry");
    ProfileEntry one;
    one.signal = entry.required_text("signal");
    one.title = entry.required_text("title");
    one.column = entry.text("column");
    one.per_subject = entry.text("per", "subject") == "subject";
    one.presence = entry.text("only") == "presence";
    one.subjects = entry.texts("subjects");
    one.compare = entry.has("severity");
    one.severity = read_severity(*file, entry, "severity", Severity::note);
    one.drift = read_severity(*file, entry, "drift", Severity::note);
    entry.finish();
    profile.entries.push_back(std::move(one));
  }
  map.finish();
  if (!file->ok()) return tl::unexpected(*file->error());
  return profile;
}

}  // namespace isleway::check
