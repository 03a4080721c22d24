// The topology in NCCL's own log (NCCL_DEBUG=INFO). Format: ncclTopoPrint in NCCL's
// src/graph/topo.cc, over its versions; see docs/formats/nccl-log.md.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "formats/machine_builder.hpp"
#include "formats/nccl_log_tree.hpp"
#include "formats/nvlink_rates.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr const char* kName = "nccl-log";
constexpr int kMostDepth = 64;

/// GB/s that NCCL counts for one PCIe lane: 12 for sixteen of generation 3.
constexpr double kLaneRates[6] = {0.1875, 0.375, 0.75, 1.5, 3, 6};
constexpr double kPrintError = 0.06;
constexpr double kVirtual = 5000;  ///< GB/s of what is no wire at all

/// "0-68000" is host 0, local id 68000; old versions have the local id alone, and some put
/// a domain between.
struct NodeId {
  std::string_view host = "0", local;
};
NodeId split_id(std::string_view id) {
  const std::size_t first = id.find('-'), last = id.rfind('-');
  if (first == std::string_view::npos) return {"0", id};
  return {id.substr(0, first), id.substr(last + 1)};
}

/// "1/1/2" as NCCL's codes for architecture, vendor and model.
CpuInfo cpu_info(std::string_view detail) {
  const auto codes = split(detail, '/');
  const auto code = [&](std::size_t i) {
    return i < codes.size() ? parse_int(codes[i]).value_or(-1) : -1;
  };
  CpuInfo cpu;
  if (code(0) == 2) cpu.arch = "ppc64";
  if (code(0) == 3) cpu.arch = "arm64";
  if (code(1) == 1 && code(0) == 1) {
    // Broadwell, Skylake, Sapphire Rapids, Emerald Rapids: the first models of each.
    constexpr int models[] = {0x4f, 0x55, 0x8f, 0xcf};
    cpu.vendor = "GenuineIntel";
    cpu.family = 6;
    if (code(2) >= 1 && code(2) <= 4) cpu.model = models[code(2) - 1];
  }
  if (code(1) == 2) cpu.vendor = "AuthenticAMD";
  return cpu;
}

class NcclLogReader {
 public:
  NcclLogReader(std::string_view text, const LogBlock& block, const ReadContext& context)
      : block_(block), build_(context), children_(block.nodes.size()) {
    for (std::size_t i = 0; i < nodes().size(); ++i)
      if (nodes()[i].parent >= 0)
        children_[static_cast<std::size_t>(nodes()[i].parent)].push_back(i);
    const GpuPart* part = context.catalogue->parts().gpu(context.gpu);
    read_nvlinks(part ? part->info.sm : 0);
    find_nic_names(text);
  }

  Notebook& notes() { return build_.notes(); }

  Result<Document> read() {
    add_cpus();
    DeviceIndex cpu = cpus_.empty() ? build_.add_cpu(0, {}) : cpus_.begin()->second;
    for (std::size_t i = 0; i < nodes().size(); ++i) {
      if (nodes()[i].link.empty()) {
        cpu = cpus_.find(nodes()[i].id)->second;
        add_children(i, cpu, 0);
      } else if (nodes()[i].parent < 0) {
        notes().incomplete(
            "the start of the topology is cut off: devices of an unknown NUMA "
            "node",
            nodes()[i].line);
        add_device(i, cpu, 0);
      }
    }
    join_nvlinks();
    if (!block_.complete)
      notes().incomplete("the topology block has no end: the log is cut, devices may be missing",
                         nodes().back().line);
    if (block_.flat)
      notes().assumed("the indentation was lost: PCIe switches are not known", block_.line);
    return build_.finish(kName);
  }

 private:
  struct NvlinkLine {
    DeviceIndex gpu = 0;
    std::size_t node = 0;
  };

  const std::vector<LogNode>& nodes() const { return block_.nodes; }

  void read_nvlinks(int sm) {
    std::vector<std::vector<double>> rates;
    for (std::size_t i = 0; i < nodes().size(); ++i) {
      if (nodes()[i].kind != "GPU" || nodes()[i].link == "NVL") continue;
      rates.emplace_back();
      for (const std::size_t child : children_[i])
        if (nodes()[child].link == "NVL") rates.back().push_back(nodes()[child].rate);
    }
    nvlinks_ = read_nvlink_rates(rates, sm);
  }

  /// "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/IB ..."
  void find_nic_names(std::string_view text) {
    const std::string_view mark = "NET/IB : Using ";
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) return;
    std::string_view list = text.substr(at + mark.size());
    list = list.substr(0, list.find_first_of("\r\n"));
    for (const std::string_view word : split_words(list)) {
      const std::size_t close = word.find(']'), colon = word.find(':');
      if (word[0] != '[' || close == std::string_view::npos || colon == std::string_view::npos ||
          colon < close)
        continue;
      if (const auto dev = parse_int(word.substr(1, close - 1)))
        nic_names_[*dev] = word.substr(close + 1, colon - close - 1);
    }
  }

  int host_of(std::string_view id) {
    const auto [place, is_new] =
        hosts_.try_emplace(split_id(id).host, static_cast<int>(hosts_.size()));
    return std::min(place->second, MachineBuilder::kMostHosts);
  }

  /// Those that have a tree first, then those that links lead to in a log that is cut.
  void add_cpus() {
    for (const bool roots : {true, false}) {
      for (const LogNode& node : nodes()) {
        if (node.kind != "CPU" || node.link.empty() != roots || cpus_.contains(node.id)) continue;
        if (build_.is_full()) return;
        CpuInfo cpu = roots || cpus_.empty() ? cpu_info(node.detail)
                                             : build_.device(cpus_.begin()->second).cpu();
        const std::string_view numa = split_id(node.id).local;
        cpu.numa = numa.starts_with("F") || numa.starts_with("f")
                       ? -1
                       : static_cast<int>(parse_int(numa, 16).value_or(-1) & 0xffff);
        cpus_[node.id] = build_.add_cpu(host_of(node.id), std::move(cpu));
      }
    }
  }

  PciInfo pci_info(const LogNode& node, const char* class_code) const {
    PciInfo pci;
    pci.bus_id = bus_id_from_packed(split_id(node.id).local).value_or("");
    pci.class_code = class_code;
    if (node.kind == "PCI" && node.detail.size() == 16) {
      std::string* const fields[] = {&pci.vendor, &pci.device, &pci.subsystem_vendor,
                                     &pci.subsystem_device};
      for (std::size_t i = 0; i < 4; ++i)
        *fields[i] = fmt::format("0x{}", node.detail.substr(4 * i, 4));
    }
    return pci;
  }

  PcieWire wire(const LogNode& node) const {
    if (node.rate >= kVirtual) return {0, 0, true};
    return wire_for_rate(node.rate, kLaneRates, kPrintError);
  }

  void add_children(std::size_t i, DeviceIndex parent, int depth) {
    for (const std::size_t child : children_[i]) add_device(child, parent, depth);
  }

  void add_device(std::size_t i, DeviceIndex parent, int depth) {
    const LogNode& node = nodes()[i];
    if (build_.is_full() || depth > kMostDepth) return;
    // NVLinks are their GPU's; sockets are joined by the builder.
    if (node.link != "PCI") return;
    if (node.kind == "PCI")
      add_children(i, build_.add_pcie_switch(parent, pci_info(node, "0x060400"), wire(node)),
                   depth + 1);
    else if (node.kind == "GPU") add_gpu(i, parent);
    else if (node.kind == "NIC") add_nic(i, parent);
  }

  void add_gpu(std::size_t i, DeviceIndex parent) {
    GpuInfo info;
    if (nvlinks_) info.sm = nvlinks_->sm;
    PcieWire slot = wire(nodes()[i]);
    slot.is_virtual = false;
    const DeviceIndex gpu =
        build_.add_gpu(parent, pci_info(nodes()[i], "0x030200"), slot, -1, std::move(info));
    gpus_.try_emplace(nodes()[i].id, gpu);
    for (const std::size_t child : children_[i])
      if (nodes()[child].link == "NVL" || nodes()[child].link == "C2C")
        nvlink_lines_.push_back({gpu, child});
  }

  void add_nic(std::size_t i, DeviceIndex parent) {
    const PciInfo pci = pci_info(nodes()[i], "0x020700");
    const PcieWire slot = wire(nodes()[i]);
    bool has_port = false;
    for (const std::size_t child : children_[i]) {
      if (nodes()[child].kind != "NET" || build_.is_full()) continue;
      has_port = true;
      add_port(nodes()[child], parent, pci, slot);
    }
    if (!has_port) build_.add_nic(parent, slot.is_virtual ? PciInfo{} : pci, slot, -1, "", {});
  }

  /// "603cb0003723f04/1/25.000000": GUID, port, GB/s; newer versions put a number in front.
  void add_port(const LogNode& node, DeviceIndex parent, const PciInfo& pci, PcieWire slot) {
    NicInfo info;
    const auto fields = split(node.detail, '/');
    double rate = node.rate;
    if (fields.size() >= 3) {
      const std::size_t n = fields.size();
      rate = parse_double(fields[n - 1]).value_or(rate);
      info.port = static_cast<int>(parse_int(fields[n - 2]).value_or(1) & 0xff);
      info.guid = fmt::format("0x{}", fields[n - 3].substr(0, 16));
    }
    if (rate > 0 && rate < kVirtual) info.rate = Rate::GBs(rate);
    const auto dev = parse_int(split_id(node.id).local, 16).value_or(-1);
    const auto name = nic_names_.find(dev);
    build_.add_nic(parent, slot.is_virtual ? PciInfo{} : pci, slot,
                   static_cast<int>(std::clamp<std::int64_t>(dev, -1, 0x7fff)),
                   name == nic_names_.end() ? std::string() : std::string(name->second),
                   std::move(info));
  }

  void join_nvlinks() {
    for (const NvlinkLine& line : nvlink_lines_) {
      const LogNode& node = nodes()[line.node];
      const auto cpu = cpus_.find(node.id);
      if (node.link == "C2C") {
        if (cpu != cpus_.end() && node.kind == "CPU")
          build_.join_c2c(line.gpu, cpu->second, 1, Rate::GBs(std::max(node.rate, 0.0)));
        continue;
      }
      const int count = nvlink_count(node);
      const auto peer = gpus_.find(node.id);
      if (node.kind == "NVS") build_.join_nvswitch(line.gpu, "NVS", count);
      else if (node.kind == "CPU" && cpu != cpus_.end())
        build_.join_cpu(line.gpu, cpu->second, count);
      else if (node.kind == "GPU" && peer != gpus_.end() && peer->second != line.gpu)
        build_.join_gpus(line.gpu, peer->second, count);
      else notes().skipped("NVLinks to a GPU that the log does not show", node.line);
    }
  }

  int nvlink_count(const LogNode& node) {
    if (nvlinks_) return nvlinks_->count(node.rate);
    constexpr NvlinkReading usual{0, 20};
    notes().assumed("an NVLink bandwidth that is no multiple of a known link's: 20 GB/s a link",
                    node.line);
    return std::max(1, usual.count(node.rate));
  }

  const LogBlock& block_;
  MachineBuilder build_;
  std::vector<std::vector<std::size_t>> children_;  ///< by node
  std::optional<NvlinkReading> nvlinks_;
  std::map<std::int64_t, std::string_view> nic_names_;
  std::map<std::string_view, int> hosts_;
  std::map<std::string_view, DeviceIndex> cpus_, gpus_;  ///< by id
  std::vector<NvlinkLine> nvlink_lines_;
};

/// The best of several processes' blocks: whole ones first, then the longest.
const LogBlock& choose(const std::vector<LogBlock>& blocks) {
  return *std::max_element(blocks.begin(), blocks.end(), [](const LogBlock& a, const LogBlock& b) {
    return std::pair(a.complete, a.nodes.size()) < std::pair(b.complete, b.nodes.size());
  });
}

std::string_view host_name(std::string_view process) {
  return process.substr(0, process.find(':'));
}

int recognise(std::string_view text) {
  const bool is_log = text.find("NCCL INFO") != std::string_view::npos;
  for (const char* link : {"+ PCI[", "+ SYS[", "+ NVL[", "+ NET[", "+ C2C["})
    if (const std::size_t at = text.find(link);
        at != std::string_view::npos && text.substr(at, 40).find("] - ") != std::string_view::npos)
      return is_log ? 90 : 80;
  return is_log && text.find("=== System :") != std::string_view::npos ? 70 : 0;
}

Result<Document> read_nccl_log(std::string_view text, const ReadContext& context) {
  const std::vector<LogBlock> blocks = find_log_blocks(text);
  if (blocks.empty())
    return fail("is an NCCL log whose topology block is cut off", "lines that start at CPU/...",
                "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH", {context.file});
  const LogBlock& block = choose(blocks);
  NcclLogReader reader(text, block, context);
  const auto is_elsewhere = [&](const LogBlock& other) {
    return host_name(other.process) != host_name(block.process);
  };
  if (std::any_of(blocks.begin(), blocks.end(), is_elsewhere))
    reader.notes().assumed(
        fmt::format("the log is of several hosts: this is {}", cite(host_name(block.process))),
        block.line);
  return reader.read();
}

}  // namespace

extern const Reader nccl_log_reader;
const Reader nccl_log_reader = {kName, "NCCL's log with the topology it found", recognise,
                                read_nccl_log};

}  // namespace isleway::formats
