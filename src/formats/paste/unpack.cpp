// Archives and compressed files, by libarchive.
#include <archive.h>
#include <archive_entry.h>

#include <memory>

#include "formats/paste/gather.hpp"

namespace isleway::formats {
namespace {

constexpr int kMostDepth = 3;  // a compressed report in an archive in an archive
constexpr std::size_t kMostFileBytes = std::size_t{64} << 20;
constexpr std::size_t kMostBytes = std::size_t{512} << 20;
constexpr int kMostEntries = 100'000;

struct FreeArchive {
  void operator()(archive* a) const { archive_read_free(a); }
};
using Archive = std::unique_ptr<archive, FreeArchive>;

Archive open(std::string_view content) {
  Archive opened(archive_read_new());
  if (!opened) return nullptr;
  archive_read_support_filter_all(opened.get());
  archive_read_support_format_all(opened.get());
  archive_read_support_format_raw(opened.get());
  if (archive_read_open_memory(opened.get(), content.data(), content.size()) != ARCHIVE_OK)
    return nullptr;
  return opened;
}

class Unpacker {
 public:
  Unpacker(const std::function<void(GatheredFile)>& take, Notices& notices)
      : take_(take), notices_(notices) {}

  void unpack(const std::string& name, std::string_view content, int depth) {
    const Archive opened = open(content);
    if (!opened) {
      notices_.skipped({name}, "is an archive that cannot be opened");
      return;
    }
    archive_entry* entry = nullptr;
    for (;;) {
      const int state = archive_read_next_header(opened.get(), &entry);
      if (state == ARCHIVE_EOF) return;
      if (state < ARCHIVE_WARN || ++entries_ > kMostEntries) {
        notices_.incomplete({name},
                            "the archive is damaged or cut here: what stood before is used");
        return;
      }
      if (archive_format(opened.get()) == ARCHIVE_FORMAT_RAW) {
        take_entry(opened.get(), without_suffix(name), depth);
      } else if (archive_entry_filetype(entry) == AE_IFREG) {
        const char* path = archive_entry_pathname(entry);
        take_entry(opened.get(), name + "/" + (path ? path : "?"), depth);
      }
      if (bytes_ > kMostBytes) {
        notices_.incomplete({name}, "holds more than 512 MiB: what stood before is used");
        return;
      }
    }
  }

 private:
  static std::string without_suffix(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    const bool in_name = dot != std::string::npos && name.find('/', dot) == std::string::npos;
    return in_name ? name.substr(0, dot) : name;
  }

  void take_entry(archive* opened, std::string name, int depth) {
    GatheredFile file{std::move(name), {}};
    char buffer[1 << 15];
    la_ssize_t n = 0;
    while ((n = archive_read_data(opened, buffer, sizeof buffer)) > 0) {
      file.content.append(buffer, static_cast<std::size_t>(n));
      bytes_ += static_cast<std::size_t>(n);
      if (file.content.size() <= kMostFileBytes && bytes_ <= kMostBytes) continue;
      notices_.incomplete({file.name}, "only the first 64 MiB are read");
      break;
    }
    if (n < 0) notices_.incomplete({file.name}, "is damaged in the archive: what came is used");
    if (depth + 1 < kMostDepth && is_archive(file.content))
      unpack(file.name, file.content, depth + 1);
    else if (n >= 0 || !file.content.empty()) take_(std::move(file));
  }

  const std::function<void(GatheredFile)>& take_;
  Notices& notices_;
  std::size_t bytes_ = 0;
  int entries_ = 0;
};

}  // namespace

bool is_archive(std::string_view content) {
  using namespace std::string_view_literals;
  for (const std::string_view magic : {"\x1f\x8b"sv, "\x28\xb5\x2f\xfd"sv,
                                       "\xfd"
                                       "7zXZ"sv,
                                       "PK\x03\x04"sv, "BZh"sv, "7z\xbc\xaf"sv})
    if (content.starts_with(magic)) return true;
  return content.size() > 262 && content.substr(257, 5) == "ustar";
}

void unpack(const std::string& name, std::string_view content,
            const std::function<void(GatheredFile)>& take, Notices& notices) {
  Unpacker(take, notices).unpack(name, content, 0);
}

}  // namespace isleway::formats
