// The trees that NCCL prints of the topology it found (NCCL_DEBUG=INFO, subsystem GRAPH).
#pragma once

#include <string_view>
#include <vector>

namespace isleway::formats {

/// One line of a tree: "+ PCI[24.0] - NIC/21000", or "CPU/0 (1/2/-1)" at a root.
struct LogNode {
  std::string_view link;    ///< "PCI", "NVL", "SYS", "NET", "C2C"; empty at a root
  double rate = 0;          ///< what NCCL prints in brackets, GB/s
  std::string_view kind;    ///< "CPU", "PCI", "GPU", "NIC", "NET", "NVS"
  std::string_view id;      ///< "0-21000"; its parts changed from version to version
  std::string_view detail;  ///< what follows in parentheses
  int column = -1;          ///< of the '+'; -1 at a root
  int parent = -1;          ///< position among the block's nodes
  int line = 0;
};

/// What one process printed. Those of several are often mixed in one log.
struct LogBlock {
  std::string_view process;  ///< "host:pid:tid [0] "; empty where the log was stripped
  std::vector<LogNode> nodes;
  bool complete = false;  ///< its closing line was found
  bool flat = false;      ///< the indentation was lost
  int line = 0;

  std::size_t count(std::string_view kind) const;
};

/// All blocks, in the order in which they start. `text` must outlive them.
std::vector<LogBlock> find_log_blocks(std::string_view text);

/// The line without what NCCL puts in front of a message; `process` gets that part.
std::string_view log_message(std::string_view line, std::string_view* process = nullptr);

/// The host of a line's "host:pid:tid [0] " (as log_message gives it, or a whole line); empty
/// when it has none.
std::string_view log_host(std::string_view process);

}  // namespace isleway::formats
