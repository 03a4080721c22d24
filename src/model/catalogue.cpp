#include <fmt/format.h>

#include <algorithm>

#include "isleway/core/file.hpp"
#include "isleway/core/text.hpp"
#include "isleway/model/config.hpp"
#include "model/config_file.hpp"

namespace isleway::model {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> json_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".json") files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

/// What a user means as a file: a config.json, or the folder that a model was downloaded to.
bool is_file_name(std::string_view name) {
  std::error_code error;
  return name == "-" || name.ends_with(".json") || fs::is_directory(fs::path(name), error);
}

bool is_called(const ModelEntry& entry, std::string_view name) {
  return equal_ignoring_case(entry.name, name) || equal_ignoring_case(entry.id, name) ||
         std::any_of(entry.aliases.begin(), entry.aliases.end(),
                     [&](const std::string& alias) { return equal_ignoring_case(alias, name); });
}

Result<Transformer> read_model(const fs::path& path, Notices& notices) {
  const auto text = read_file(path, std::size_t{16} << 20);
  if (!text) return tl::unexpected(text.error());
  return from_config(*text, path.string(), notices);
}

}  // namespace

Result<ModelCatalogue> ModelCatalogue::open(fs::path folder) {
  ModelCatalogue catalogue;
  for (const fs::path& path : json_files(folder)) {
    const auto text = read_file(path);
    if (!text) return tl::unexpected(text.error());
    auto file = ConfigFile::parse(*text, path.string());
    if (!file) return tl::unexpected(file.error());
    ModelEntry entry;
    entry.name = file->text({"isleway.name"}, path.stem().string());
    entry.title = file->text({"isleway.title"}, entry.name);
    entry.id = file->text({"isleway.id"});
    entry.source = file->text({"isleway.source"});
    entry.aliases = file->texts({"isleway.aliases"});
    entry.published_total = file->number({"isleway.total_b"}, 0);
    entry.published_active = file->number({"isleway.active_b"}, 0);
    entry.file = path;
    catalogue.entries_.push_back(std::move(entry));
  }
  if (catalogue.entries_.empty())
    return fail("there are no models here", "files *.json, as in models/",
                "set ISLEWAY_DATA to the folder that came with isleway", {folder.string()});
  return catalogue;
}

Result<Transformer> ModelCatalogue::find(std::string_view name, Notices& notices) const {
  for (const ModelEntry& entry : entries_)
    if (is_called(entry, name)) return read_model(entry.file, notices);
  if (is_file_name(name)) {
    fs::path path{name};
    std::error_code error;
    if (fs::is_directory(path, error)) path /= "config.json";
    return read_model(path, notices);
  }
  std::vector<std::string> known;
  for (const ModelEntry& entry : entries_) known.push_back(entry.name);
  return fail_unknown("model", name, known);
}

}  // namespace isleway::model
