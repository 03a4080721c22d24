// The parts catalogue: what GPUs, links, switches and NICs can do, read from machines/parts.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "isleway/core/error.hpp"
#include "isleway/fabric/device.hpp"

namespace isleway {

struct GpuPart {
  std::string key, title;
  GpuInfo info;
  int nvlink_generation = 0;
  std::string nvlink_part;  ///< key among links(): most often "nvlink<generation>"
  bool typical = false;     ///< the board to assume where only the compute capability is known
  int pcie_generation = 0, pcie_lanes = 16;
  Bytes memory;
  Rate memory_rate;      ///< HBM or GDDR, read
  Rate local_copy_rate;  ///< device-to-itself copy, read plus write counted once, as
                         ///< p2pBandwidthLatencyTest prints it on the diagonal
  int sms = 0;
  std::vector<std::string> pci_device_ids;  ///< "0x2330", for readers
  std::string source;
};

/// One generation of a link, with the measured share of its rate that payload gets.
struct LinkPart {
  std::string key;  ///< "nvlink4", "pcie5", "c2c1", "xgmi3"
  LinkKind kind = LinkKind::nvlink;
  int generation = 0;
  int lanes = 1;  ///< for which link_rate holds
  Rate link_rate;
  Time latency;
  Efficiency direct;    ///< GPU to GPU, or PCIe
  Efficiency switched;  ///< the same link into an NVSwitch
  std::string source;
};

struct NvswitchPart {
  std::string key;
  NvswitchInfo info;
  Rate port_rate;
  Time latency;
  std::string source;
};

struct NicPart {
  std::string key, title;
  NicInfo info;
  int pcie_generation = 0, pcie_lanes = 16;
  std::string technology;  ///< "infiniband", "ethernet", "efa", "slingshot"
  double efficiency = 1;   ///< payload share of the line rate, measured
  std::string source;
};

struct CpuPart {
  std::string key, title;
  CpuInfo info;
  Rate smp_rate;  ///< to the other socket, one direction
  double smp_efficiency = 1;
  bool splits_tlps = false;  ///< forwards peer-to-peer as 64-byte TLPs (Intel root ports)
  std::string source;
};

/// A calibrated number of a model (a time in microseconds, a rate in GB/s, a ratio), with
/// what it was measured on. Lives in machines/parts/timing.yaml.
struct Constant {
  double value = 0;
  std::string unit, source;
};

class Parts {
 public:
  /// Reads every *.yaml in `folder` (machines/parts).
  static Result<Parts> load(const std::filesystem::path& folder);

  const GpuPart* gpu(std::string_view key) const;
  const LinkPart* link(std::string_view key) const;
  const LinkPart* link(LinkKind kind, int generation) const;
  const NvswitchPart* nvswitch(std::string_view key) const;
  const NicPart* nic(std::string_view key) const;
  const CpuPart* cpu(std::string_view key) const;
  /// "launch.per_rank_us"; null when the catalogue has none of that name.
  const Constant* constant(std::string_view key) const;
  void set_constant(const std::string& key, Constant constant) {
    constants_.insert_or_assign(key, std::move(constant));
  }

  /// The likeliest GPU for what a file tells: PCI device id, compute capability, NVLinks
  /// seen at one GPU (0 = unknown). Exact ids first; else the most common board.
  const GpuPart* guess_gpu(const std::string& pci_device, int sm, int nvlinks) const;

  /// A bundle as this catalogue knows it, its devices still to be filled in; unknown
  /// generations fall to the nearest known. Into a switch, half of the switch's own latency
  /// is added, so that a path through one has all of it.
  Link make_link(LinkKind kind, int generation, int count, int lanes, bool into_switch) const;
  Link make_link(const LinkPart& part, int count, int lanes, bool into_switch) const;

  const std::map<std::string, GpuPart, std::less<>>& gpus() const { return gpus_; }
  const std::map<std::string, LinkPart, std::less<>>& links() const { return links_; }
  const std::map<std::string, CpuPart, std::less<>>& cpus() const { return cpus_; }
  const std::map<std::string, NvswitchPart, std::less<>>& nvswitches() const { return nvswitches_; }
  const std::map<std::string, NicPart, std::less<>>& nics() const { return nics_; }
  const std::map<std::string, Constant, std::less<>>& constants() const { return constants_; }

 private:
  friend class PartsReader;
  std::map<std::string, GpuPart, std::less<>> gpus_;
  std::map<std::string, LinkPart, std::less<>> links_;
  std::map<std::string, NvswitchPart, std::less<>> nvswitches_;
  std::map<std::string, NicPart, std::less<>> nics_;
  std::map<std::string, CpuPart, std::less<>> cpus_;
  std::map<std::string, Constant, std::less<>> constants_;
};

}  // namespace isleway
