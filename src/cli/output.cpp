// Data to standard output or a file, progress to standard error.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/command.hpp"
#include "isleway/core.hpp"

namespace isleway::cli {
namespace {

constexpr double kQuietSeconds = 1;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return Exit::good;
  if (errno == EPIPE) std::_Exit(Exit::good);
  return report(Error{
      {"standard output"}, std::string("cannot be written: ") + std::strerror(errno), {}, {}});
}

int print_to(const std::string& file, std::string_view text) {
  if (file.empty() || file == "-") return print(text);
  const auto written = write_file(file, text);
  return written ? Exit::good : report(written.error());
}

Progress::Progress(const Session& session)
    : wanted_(!session.quiet && ::isatty(STDERR_FILENO) != 0), started_(now()) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::show(std::string_view text) {
  if (!wanted_ || now() - started_ < kQuietSeconds) return;
  fmt::print(stderr, "\r\x1b[K{}", text);
  shown_ = true;
}

}  // namespace isleway::cli
