// What nvidia-smi prints, for a virtual machine: the shape of driver 580's tool, byte for byte
// where it says something of the machine.
#pragma once

#include <string>

#include "isleway/virtual/nvml/monitor.hpp"

namespace isleway::vgpu::smi {

/// nvidia-smi without arguments.
std::string table(nvml::Monitor& monitor);
/// -L
std::string list(nvml::Monitor& monitor);
/// -q, and with `xml` -x -q
std::string query(nvml::Monitor& monitor, bool xml);

/// nvlink -s, -c, -e, -R; `gt`: -gt d, the bytes that links have carried.
enum class NvlinkView { status, capabilities, errors, remote, throughput };
std::string nvlink(nvml::Monitor& monitor, NvlinkView view);

/// topo -m. Error: what formats::topo_m_writer cannot express.
Result<std::string> topology(nvml::Monitor& monitor);
/// topo -p2p, by the capability's letter: r, w, n, a, p.
std::string peers(nvml::Monitor& monitor, nvml::PeerCapability capability);

}  // namespace isleway::vgpu::smi
