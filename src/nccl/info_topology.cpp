#include "nccl/info_topology.hpp"

#include <fmt/format.h>

#include "isleway/core.hpp"
#include "isleway/fabric/addresses.hpp"

namespace isleway::nccl {
namespace {

constexpr const char* kTypeNames[] = {"GPU", "PCI", "NVS", "CPU", "NIC", "NET"};
constexpr const char* kWireNames[] = {"LOC", "NVL", "C2C", "PCI", "SYS", "NET"};
constexpr const char* kEnd = "==========================================";

const char* path_name(PathKind kind) { return kind == PathKind::loc ? "LOC" : name_of(kind); }

/// "0000:68:00.0" as NCCL counts: all digits in one number.
std::uint64_t address_number(const std::string& address) {
  std::string digits;
  for (const char c : address)
    if (c != ':' && c != '.') digits += c;
  return std::strtoull(digits.c_str(), nullptr, 16);
}

std::uint64_t hex_word(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 16) & 0xffff;
}

/// Which of NCCL's models a CPU is; -1 for those that it does not tell apart.
int model_number(const CpuInfo& cpu, const SystemNode& node) {
  if (node.arch != CpuArch::x86 || node.vendor != CpuVendor::intel) return -1;
  constexpr int kFamily = 6, kSkylake = 0x55, kSapphireRapids = 0x8F, kEmeraldRapids = 0xCF;
  if (cpu.family != kFamily || cpu.model < kSkylake) return 1;
  if (cpu.model < kSapphireRapids) return 2;
  return cpu.model < kEmeraldRapids ? 3 : 4;
}

}  // namespace

TopologyText::TopologyText(const Unit& unit, const System& system) : unit_(unit), system_(system) {
  constexpr std::uint64_t kLocalBits = (std::uint64_t{1} << 56) - 1;
  const std::vector<std::string> addresses = pci_addresses(unit);
  for (int i = 0; i < system.node_count(); ++i) {
    const SystemNode& node = system.node(i);
    std::uint64_t id = 0;
    switch (node.type) {
      case NodeType::cpu:
        id = static_cast<std::uint64_t>(unit.device(node.device).cpu().numa) & kLocalBits;
        break;
      case NodeType::net: id = static_cast<std::uint64_t>(node.port_number); break;
      case NodeType::nvs: break;
      case NodeType::nic: id = address_number(addresses[node.device]) & ~std::uint64_t{0xf}; break;
      default: id = address_number(addresses[node.device]);
    }
    local_ids_.push_back(id);
  }
}

std::string TopologyText::name(int node) const {
  const SystemNode& at = system_.node(node);
  const int host = at.type == NodeType::nvs ? 0 : at.system;
  return fmt::format("{}/{:x}-{:x}", kTypeNames[static_cast<int>(at.type)], host, local_ids_[node]);
}

std::string TopologyText::detail(int node) const {
  const SystemNode& at = system_.node(node);
  const Device& device = unit_.device(at.device);
  switch (at.type) {
    case NodeType::gpu: return fmt::format(" ({})", at.rank);
    case NodeType::cpu: {
      constexpr int kArch[] = {1, 3, 2};  // x86, ARM, POWER in NCCL's numbers
      int vendor = -1;
      if (at.vendor == CpuVendor::intel) vendor = 1;
      if (at.vendor == CpuVendor::amd) vendor = 2;
      return fmt::format(" ({}/{}/{})", kArch[static_cast<int>(at.arch)], vendor,
                         model_number(device.cpu(), at));
    }
    case NodeType::pci: {
      const PciInfo& pci = device.pci;
      return fmt::format(" ({:x})", hex_word(pci.vendor) << 48 | hex_word(pci.device) << 32 |
                                        hex_word(pci.subsystem_vendor) << 16 |
                                        hex_word(pci.subsystem_device));
    }
    case NodeType::net: {
      const NicInfo& nic = device.nic();
      const auto guid = nic.guid.empty() ? at.asic : std::strtoull(nic.guid.c_str(), nullptr, 16);
      return fmt::format(" ({}/{:x}/{}/{:f})", nic.in_network_reduction ? 1 : 0, guid, at.port,
                         at.bandwidth);
    }
    default: return {};
  }
}

void TopologyText::print(int node, int from, std::string line,
                         std::vector<std::string>& lines) const {
  const std::size_t indent = line.size();
  lines.push_back(line + name(node) + detail(node));
  for (const int number : system_.node(node).wires) {
    const Wire& wire = system_.wire(number);
    const bool pci = wire.type == WireType::pci;
    if (wire.type == WireType::loc || (pci && wire.to == from)) continue;
    const NodeType to = system_.node(wire.to).type;
    if (to == NodeType::net && system_.count(NodeType::net) == 0) continue;
    line = std::string(indent, ' ') +
           fmt::format("+ {}[{:2.1f}] - ", kWireNames[static_cast<int>(wire.type)], wire.bandwidth);
    if (pci) print(wire.to, node, line, lines);
    else lines.push_back(line + name(wire.to) + (to == NodeType::net ? detail(wire.to) : ""));
  }
}

std::string TopologyText::paths_from(int node) const {
  std::string line = name(node) + " :";
  for (const NodeType type : {NodeType::gpu, NodeType::nvs, NodeType::cpu, NodeType::net})
    for (const int to : system_.of(type)) {
      const SystemPath& path = system_.path(node, to);
      line += fmt::format("{} ({}/{:2.1f}/{}) ", name(to), path.wires.size(), path.bandwidth,
                          path_name(path.type));
    }
  return line;
}

std::vector<std::string> TopologyText::system_lines() const {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("=== System : maxBw {:2.1f} totalBw {:2.1f} ===",
                              system_.max_bandwidth, system_.total_bandwidth));
  for (const int cpu : system_.of(NodeType::cpu)) print(cpu, -1, {}, lines);
  lines.push_back(kEnd);
  for (const NodeType type : {NodeType::gpu, NodeType::net})
    for (const int node : system_.of(type)) lines.push_back(paths_from(node));
  return lines;
}

std::vector<std::string> TopologyText::graph_lines(const SearchGraph& graph) const {
  std::vector<std::string> lines = {fmt::format(
      "Pattern {}, crossNic {}, nChannels {}, bw {:f}/{:f}, type {}/{}, sameChannels {}",
      graph.pattern, graph.cross_nic, graph.channels, graph.bw_intra, graph.bw_inter,
      path_name(graph.type_intra), path_name(graph.type_inter), graph.same_channels ? 1 : 0)};
  const bool network = system_.count(NodeType::net) > 0;
  std::vector<std::string> gpus(system_.count(NodeType::gpu));
  for (const int gpu : system_.of(NodeType::gpu)) gpus[system_.node(gpu).rank] = name(gpu);
  const auto add_port = [&](std::string& line, int port) {
    if (network && port >= 0) line += " " + name(port);
  };
  for (int c = 0; c < graph.channels; ++c) {
    std::string line = fmt::format("{:2} :", c);
    add_port(line, graph.inter[c].first);
    for (const int rank : graph.intra[c]) line += " " + gpus[rank];
    add_port(line, graph.inter[c].second);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace isleway::nccl
