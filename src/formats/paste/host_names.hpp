// Which words are hosts' names, and how lists of them are written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isleway::formats {

/// True for text that may be a host's name and is no tool's own word: "node7", "gpu-a-012",
/// not "GPU7", "mlx5_0", "H100" or "topo". Names without a digit are none: too many words
/// look like them.
bool is_host_name(std::string_view word);

/// Without the domain: "node7" of "node7.cluster.local"; addresses stay whole.
std::string short_host_name(std::string_view name);

/// The names of "node[1-3,7],login1", as Slurm and pdsh write lists. Empty when the text is no
/// list, or has more than `most` names.
std::vector<std::string> expand_hosts(std::string_view list, std::size_t most = 100'000);

/// What each of these files' paths says of the host that it comes from, or empty:
/// "n1/topo.txt", "dmesg_n1.log". A part that looks like a host's name is one when other files
/// have the same with another number, or when it begins as hosts do ("node", "gpu", "srv").
std::vector<std::string> hosts_of_paths(const std::vector<std::string>& paths);

}  // namespace isleway::formats
