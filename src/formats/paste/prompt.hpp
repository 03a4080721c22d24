// Shell prompts, banners and rulers: where one output ends and the next one starts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isleway::formats {

/// What a line says of the lines after it.
struct Boundary {
  std::vector<std::string> nodes;  ///< empty: as before
  std::string command;             ///< whose output follows; may be empty
  bool is_prompt = false;          ///< a shell printed it, so that no output means no output
};

/// "root@node7:~# nvidia-smi topo -m", "[me@n1 ~]$ cat /proc/cmdline", "$ lspci -vvv",
/// "+ nvidia-smi", a bare "dcgmi nvlink -s", "==> node7/dmesg.txt <==", "=== node7 ===",
/// "*** /proc/cmdline" (nvidia-bug-report), "node7 | CHANGED | rc=0 >>" (ansible), or a code
/// fence. `line` is free of terminal codes and prefixes.
std::optional<Boundary> parse_boundary(std::string_view line);

}  // namespace isleway::formats
