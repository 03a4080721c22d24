#include "formats/paste/gather.hpp"

#include <algorithm>
#include <system_error>

#include "isleway/core/file.hpp"

namespace isleway::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 100'000;
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

class Gatherer {
 public:
  explicit Gatherer(Notices& notices) : notices_(notices) {}

  Result<void> take_input(const fs::path& input) {
    std::error_code code;
    if (input != "-" && fs::is_directory(input, code)) {
      take_directory(input);
      return {};
    }
    auto content = read_file(input);
    if (!content) return tl::unexpected(content.error());
    take_content(input == "-" ? "standard input" : input.string(), *std::move(content));
    return {};
  }

  std::vector<GatheredFile> finish() { return std::move(files_); }

 private:
  void take_directory(const fs::path& directory) {
    std::vector<fs::path> paths;
    std::error_code code;
    // Links are not followed: a directory may hold one to itself.
    for (auto entry = fs::recursive_directory_iterator(
             directory, fs::directory_options::skip_permission_denied, code);
         !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
      if (entry->is_regular_file(code)) paths.push_back(entry->path());
      if (paths.size() > kMostFiles) break;
    }
    if (code) notices_.incomplete({directory.string()}, "cannot be listed: " + code.message());
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
      if (is_full(path.string())) return;
      if (auto content = read_file(path)) take_content(path.string(), *std::move(content));
      else notices_.skipped(content.error().where, content.error().what);
    }
  }

  void take_content(std::string name, std::string content) {
    if (is_archive(content)) {
      unpack(
          name, content, [this](GatheredFile file) { add(std::move(file)); }, notices_);
      return;
    }
    add({std::move(name), std::move(content)});
  }

  void add(GatheredFile file) {
    if (is_full(file.name)) return;
    bytes_ += file.content.size();
    files_.push_back(std::move(file));
  }

  bool is_full(const std::string& name) {
    if (files_.size() < kMostFiles && bytes_ < kMostBytes) return false;
    if (!said_full_)
      notices_.skipped({name},
                       "more files than are read at once (100,000 files, 1 GiB): this one "
                       "and those after it are left out");
    said_full_ = true;
    return true;
  }

  Notices& notices_;
  std::vector<GatheredFile> files_;
  std::size_t bytes_ = 0;
  bool said_full_ = false;
};

}  // namespace

Result<std::vector<GatheredFile>> gather(const std::vector<fs::path>& inputs, Notices& notices) {
  Gatherer gatherer(notices);
  for (const fs::path& input : inputs)
    if (auto taken = gatherer.take_input(input); !taken) return tl::unexpected(taken.error());
  return gatherer.finish();
}

}  // namespace isleway::formats
