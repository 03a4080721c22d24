// What a command is, and what all of them share.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "isleway/fabric.hpp"

namespace isleway::cli {

/// Nagios' codes: what every command's exit status means.
enum Exit : int { good = 0, warning = 1, critical = 2, unknown = 3 };

/// Shared by the commands of one run: the global flags, the catalogue, where to write.
struct Session {
  bool json = false;
  bool quiet = false;
  bool verbose = false;

  /// Opened when first asked for.
  Result<const Catalogue*> catalogue();

 private:
  std::optional<Catalogue> catalogue_;
};

/// One file of src/cli/commands defines one of these as `<stem>_command`.
struct Command {
  const char* name;
  const char* summary;
  /// Adds options to `app`; what is returned runs after parsing and gives the exit status.
  std::function<int(Session&)> (*set_up)(CLI::App& app);
};
std::span<const Command* const> commands();

/// Prints the error to stderr and returns Exit::critical.
int report(const Error& error);
/// Prints notices to stderr, unless quiet.
void report(const Notices& notices, const Session& session);

}  // namespace isleway::cli
