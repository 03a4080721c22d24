#include "isleway/core/file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace isleway {
namespace {

struct Close {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};
using FilePointer = std::unique_ptr<std::FILE, Close>;

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit) {
  const bool standard_input = path == "-";
  const Location where{standard_input ? "standard input" : path.string()};
  std::error_code code;
  if (!standard_input && std::filesystem::is_directory(path, code))
    return fail("is a folder, not a file", {}, {}, where);
  FilePointer file(standard_input ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) return fail(std::strerror(errno), {}, {}, where);
  std::string content;
  char buffer[1 << 16];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, file.get())) {
    content.append(buffer, n);
    if (content.size() > limit)
      return fail("is larger than " + std::to_string(limit >> 20) + " MiB", {}, {}, where);
  }
  if (std::ferror(file.get())) return fail(std::strerror(errno), {}, {}, where);
  return content;
}

Result<void> write_file(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::path temporary = path;
  temporary += ".tmp" + std::to_string(::getpid());
  const auto give_up = [&](int error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    return fail(std::string("cannot be written: ") + std::strerror(error), {}, {}, {path.string()});
  };
  FilePointer file(std::fopen(temporary.c_str(), "wb"));
  if (!file) return give_up(errno);
  if (std::fwrite(content.data(), 1, content.size(), file.get()) != content.size())
    return give_up(errno);
  if (std::fclose(file.release()) != 0) return give_up(errno);
  std::error_code code;
  std::filesystem::rename(temporary, path, code);
  if (code) return give_up(code.value());
  return {};
}

}  // namespace isleway
