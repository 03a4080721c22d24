#include <fmt/format.h>

#include <cstdio>

#include "cli/command.hpp"

namespace isleway::cli {

Result<const Catalogue*> Session::catalogue() {
  if (!catalogue_) {
    auto opened = Catalogue::open_default();
    if (!opened) return tl::unexpected(opened.error());
    catalogue_ = std::move(*opened);
  }
  return &*catalogue_;
}

int report(const Error& error) {
  fmt::print(stderr, "isleway: {}\n", error.text());
  return Exit::critical;
}

void report(const Notices& notices, const Session& session) {
  if (session.quiet) return;
  for (const Notice& notice : notices) {
    const std::string where = notice.where.text();
    fmt::print(stderr, "{}{}{}: {}\n", where, where.empty() ? "" : ": ", name_of(notice.kind),
               notice.text);
  }
}

}  // namespace isleway::cli
