// What `nvidia-smi topo -m` of a current driver (535 and later) would print on a host, without
// the terminal codes around its header.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "formats/cpu_mask.hpp"
#include "formats/topo_grid.hpp"
#include "isleway/core/text.hpp"
#include "isleway/fabric/host_cpu.hpp"
#include "isleway/formats.hpp"

namespace isleway::formats {
namespace {

constexpr std::string_view kLegend =
    "\nLegend:\n\n"
    "  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., "
    "QPI/UPI)\n"
    "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges "
    "within a NUMA node\n"
    "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
    "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host "
    "Bridge)\n"
    "  PIX  = Connection traversing at most a single PCIe bridge\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n"
    "\n";

class HostMatrix {
 public:
  HostMatrix(const Unit& unit, int host) : unit_(unit) {
    const auto here = [&](DeviceIndex i) { return unit.device(i).host == host; };
    std::copy_if(unit.gpus().begin(), unit.gpus().end(), std::back_inserter(gpus_), here);
    std::copy_if(unit.nics().begin(), unit.nics().end(), std::back_inserter(nics_), here);
    std::copy_if(unit.cpus().begin(), unit.cpus().end(), std::back_inserter(cpus_), here);
  }
  bool has_gpu() const { return !gpus_.empty(); }
  std::size_t size() const { return gpus_.size() + nics_.size(); }

  std::string text() const {
    std::string out;
    for (const DeviceIndex gpu : gpus_) out += "\t" + gpu_name(gpu);
    for (std::size_t i = 0; i < nics_.size(); ++i) out += fmt::format("\tNIC{}", i);
    out += "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n";
    for (const DeviceIndex gpu : gpus_)
      out += fmt::format("{}{}\t{}\t{}\t\t{}\n", gpu_name(gpu), cells(gpu), cpu_affinity(gpu),
                         numa_affinity(gpu), gpu_numa(gpu));
    for (std::size_t i = 0; i < nics_.size(); ++i)
      out += fmt::format("NIC{}{}\t\t\t\t\n", i, cells(nics_[i]));
    out += kLegend;
    if (nics_.empty()) return out;
    out += "NIC Legend:\n\n";
    for (std::size_t i = 0; i < nics_.size(); ++i)
      out += fmt::format("  NIC{}: {}\n", i, unit_.device(nics_[i]).name);
    return out + "\n";
  }

 private:
  std::string gpu_name(DeviceIndex gpu) const {
    return fmt::format("GPU{}", unit_.device(gpu).index);
  }

  std::string cells(DeviceIndex from) const {
    std::string out;
    for (const auto& group : {gpus_, nics_})
      for (const DeviceIndex to : group) out += "\t" + cell(from, to);
    return out;
  }

  std::string cell(DeviceIndex from, DeviceIndex to) const {
    if (from == to) return " X ";
    const bool gpus =
        unit_.device(from).kind == DeviceKind::gpu && unit_.device(to).kind == DeviceKind::gpu;
    // The tool knows NVIDIA's links alone; AMD's own tools call theirs XGMI.
    if (const int links = gpus ? nvlinks_between(unit_, from, to) : 0; links > 0)
      return unit_.device(from).gpu().amd ? "XGMI" : fmt::format("NV{}", links);
    const PathKind kind = path_kind(unit_, from, to, true);
    return kind >= PathKind::pix && kind <= PathKind::sys ? name_of(kind) : "SYS";
  }

  /// nvidia-smi stops after six ranges: "0,2,4,6,8,10" where sockets take turns.
  std::string cpu_affinity(DeviceIndex gpu) const {
    constexpr std::size_t most_ranges = 6;
    const auto cpu = host_cpu(unit_, gpu);
    const auto mask = cpu ? CpuMask::from_words(unit_.device(*cpu).cpu().affinity) : std::nullopt;
    const std::string ranges = mask ? mask->ranges() : std::string();
    std::vector<std::string_view> pieces = split(ranges, ',');
    pieces.resize(std::min(pieces.size(), most_ranges));
    return fmt::format("{}", fmt::join(pieces, ","));
  }

  /// Memory of GPUs on C2C is NUMA nodes too, eight for each, numbered after the CPUs'.
  static constexpr std::size_t kNodesOfGpu = 8;
  std::size_t own_numa_node(std::size_t position) const {
    return cpus_.size() + kNodesOfGpu * position;
  }

  std::string numa_affinity(DeviceIndex gpu) const {
    const auto cpu = host_cpu(unit_, gpu);
    if (!cpu || unit_.device(*cpu).cpu().numa < 0) return "N/A";
    std::string nodes = fmt::format("{}", unit_.device(*cpu).cpu().numa);
    // The first node of each GPU holds its memory; the others are kept for MIG instances.
    constexpr int blackwell = 100;
    for (std::size_t i = 0; i < gpus_.size(); ++i)
      if (unit_.device(gpus_[i]).gpu().sm >= blackwell && c2c_link(unit_, gpus_[i]) &&
          host_cpu(unit_, gpus_[i]) == cpu)
        nodes += fmt::format(",{}-{}", own_numa_node(i) + 1, own_numa_node(i) + kNodesOfGpu - 1);
    return nodes;
  }

  std::string gpu_numa(DeviceIndex gpu) const {
    if (!c2c_link(unit_, gpu)) return "N/A";
    const auto position = std::find(gpus_.begin(), gpus_.end(), gpu) - gpus_.begin();
    return fmt::format("{}", own_numa_node(static_cast<std::size_t>(position)));
  }

  const Unit& unit_;
  std::vector<DeviceIndex> gpus_, nics_, cpus_;
};

Result<std::string> write_matrix(const Fabric& fabric, const WriteOptions& options) {
  if (options.unit >= fabric.unit_count())
    return fail(fmt::format("there is no unit {}", options.unit),
                fmt::format("0 to {}", fabric.unit_count() - 1));
  const Unit& unit = fabric.unit(options.unit);
  if (options.host < 0 || options.host >= unit.parts().hosts)
    return fail(fmt::format("there is no host {}", options.host),
                fmt::format("0 to {}", unit.parts().hosts - 1));
  const HostMatrix matrix(unit, options.host);
  if (!matrix.has_gpu()) return fail("topo -m describes GPUs, and the host has none");
  if (matrix.size() > kMaxTopoDevices)
    return fail(fmt::format("a matrix of {} GPUs and NICs is too large", matrix.size()),
                fmt::format("a host with at most {}", kMaxTopoDevices));
  return matrix.text();
}

}  // namespace

extern const Writer topo_m_writer;
const Writer topo_m_writer = {"topo-m", "nvidia-smi topo -m", write_matrix};

}  // namespace isleway::formats
