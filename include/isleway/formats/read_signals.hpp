// From what an operator hands over to signals: files, directories, archives, mixed pastes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "isleway/formats/signal.hpp"

namespace isleway::formats {

struct SignalsRead {
  Signals signals;
  Notices notices;
  /// Hosts that the outputs come from, in the order met; without those that nothing names.
  std::vector<std::string> nodes;
};

/// Every file below `inputs` ("-" is standard input; directories in the order of names;
/// .tar, .tar.gz, .zip and plain .gz, .xz, .zst are opened), each cleaned of what pasting does
/// to it, divided at prompts, banners and hosts' prefixes, and given to all readers that know
/// a part of it. Error: an input that cannot be opened. What is wrong inside becomes notices.
Result<SignalsRead> read_signals(const std::vector<std::filesystem::path>& inputs);

/// The same for one text. `file` is for locations and may name the node ("node7/dmesg.txt").
SignalsRead read_signals(std::string_view text, const std::string& file);

}  // namespace isleway::formats
