#include <fmt/format.h>

#include "fabric/parts_reader.hpp"
#include "isleway/core.hpp"
#include "isleway/plan/serve.hpp"

namespace isleway::plan {

Result<std::map<std::string, ServeSoftware>> all_serve_software(
    const std::filesystem::path& folder) {
  const auto path = folder / "serving.yaml";
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  auto file = YamlFile::parse(*text, path.string());
  if (!file) return tl::unexpected(file.error());
  SourceList sources;
  YamlMap root(*file, file->root(), "the file");
  sources.read(*file, root);
  std::map<std::string, ServeSoftware> all;
  YamlMap entries(*file, root.require("serving"), "'serving'");
  for (const std::string& key : entries.keys()) {
    YamlMap map(*file, entries.take(key), fmt::format("'{}'", key));
    ServeSoftware software;
    software.name = key;
    software.step = map.number("step_us", 0, 0, 1e6);
    software.request = map.number("request_us", 0, 0, 1e7);
    software.sequence = map.number("sequence_us", 0, 0, 1e4);
    software.launch = map.number("launch", 1, 0, 1);
    software.all_reduce = map.number("all_reduce", 1, 0.01, 1);
    software.arrivals = map.number("arrivals", 0, 0, 1);
    software.together = map.number("together", 0, 0, 1);
    software.source = sources.resolve(*file, map);
    map.finish();
    all.emplace(key, std::move(software));
  }
  root.finish();
  if (!file->ok()) return tl::unexpected(*file->error());
  return all;
}

Result<ServeSoftware> serve_software(const std::filesystem::path& folder, std::string_view name) {
  const auto all = all_serve_software(folder);
  if (!all) return tl::unexpected(all.error());
  const auto found = all->find(std::string(name));
  if (found != all->end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [key, value] : *all) known.push_back(key);
  return fail_unknown("serving software", name, known);
}

}  // namespace isleway::plan
