// What a command is, and what all of them share.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "isleway/fabric.hpp"

namespace CLI {
class App;  // its header is large; only who adds options needs it
}

namespace isleway::cli {

/// Nagios' codes: what every command's exit status means.
enum Exit : int { good = 0, warning = 1, critical = 2, unknown = 3 };

/// Shared by the commands of one run: the global flags, the catalogue.
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

/// Writes data to standard output, now. A reader that has gone away (a closed pipe) is no
/// error of ours: the program ends quietly. Exit::critical when it cannot be written.
int print(std::string_view text);
/// Writes data to a file, or to standard output where `file` is empty or "-".
int print_to(const std::string& file, std::string_view text);

/// A line on stderr that says how far the work is, if it lasts and a person looks on.
class Progress {
 public:
  explicit Progress(const Session& session);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(std::string_view text);

 private:
  bool wanted_;
  bool shown_ = false;
  double started_;
};

}  // namespace isleway::cli
