// What nvidia-smi prints, for a virtual machine: the shape of driver 580's tool, byte for byte
// where it says something of the machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isleway/virtual/nvml/monitor.hpp"

namespace isleway::vgpu::smi {

/// GPUs of the node by their indices; empty: all of them.
using Selection = std::vector<int>;
/// -i: indices, UUIDs and PCI addresses, with commas between. Error: what is none of the node's.
Result<Selection> select_gpus(nvml::Monitor& monitor, std::string_view ids);

/// nvidia-smi without arguments.
std::string table(nvml::Monitor& monitor, const Selection& selection = {});
/// -L
std::string list(nvml::Monitor& monitor, const Selection& selection = {});

/// -q, of which `sections` are wanted by their labels (empty: all); `xml`: -x -q.
struct Query {
  bool xml = false;
  std::vector<std::string> sections;
};
std::string query(nvml::Monitor& monitor, const Query& query, const Selection& selection = {});
/// -d's names, with commas between, as the labels of Query. Error: what is no section.
Result<std::vector<std::string>> sections_of(std::string_view names);
/// --query-gpu=NAMES --format=FORMAT. Error: a field that is not known, a format that is not csv.
Result<std::string> csv(nvml::Monitor& monitor, const Selection& selection, std::string_view names,
                        std::string_view format);

/// nvlink -s, -c, -e, -R; `gt`: -gt d, the bytes that links have carried. `link`: -l, or all of
/// them where it is negative.
enum class NvlinkView { status, capabilities, errors, remote, throughput };
std::string nvlink(nvml::Monitor& monitor, NvlinkView view, const Selection& selection = {},
                   int link = -1);

/// topo -m. Error: what formats::topo_m_writer cannot express.
Result<std::string> topology(nvml::Monitor& monitor);
/// topo -p2p, by the capability's letter: r, w, n, a, p.
std::string peers(nvml::Monitor& monitor, nvml::PeerCapability capability);

}  // namespace isleway::vgpu::smi
