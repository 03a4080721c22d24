// From the facts that files hold to a Unit. Every reader of a machine goes through here, so
// that all of them guess, name and wire alike.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/notebook.hpp"
#include "formats/pci.hpp"
#include "isleway/formats.hpp"

namespace isleway::formats {

class MachineBuilder {
 public:
  explicit MachineBuilder(const ReadContext& context);

  /// More devices than this are no machine but a mistake, or an attack.
  static constexpr std::size_t kMostDevices = 20'000;
  static constexpr int kMostHosts = 2'000;

  /// Devices keep the order in which they are added. `number` is the index that the file
  /// gives to a GPU or NIC, -1 when it gives none.
  DeviceIndex add_cpu(int host, CpuInfo info);
  DeviceIndex add_pcie_switch(DeviceIndex parent, PciInfo pci, PcieWire wire,
                              PcieSwitchInfo info = {});
  DeviceIndex add_gpu(DeviceIndex parent, PciInfo pci, PcieWire wire, int number, GpuInfo info);
  DeviceIndex add_nic(DeviceIndex parent, PciInfo pci, PcieWire wire, int number, std::string name,
                      NicInfo info);
  bool is_full() const { return unit_.devices.size() >= kMostDevices; }

  /// `count` more NVLinks (xGMI for AMD) leave `gpu` for another GPU. May be told from one
  /// side or from both; where the sides differ, the larger count stands, with a notice.
  /// `fitted` tells of links that are there and not up.
  void join_gpus(DeviceIndex gpu, DeviceIndex other, int count, int fitted = 0);
  /// ... for an NVSwitch that the file calls `key`, most often its PCI address.
  void join_nvswitch(DeviceIndex gpu, const std::string& key, int count, int fitted = 0);
  /// ... for a CPU (POWER).
  void join_cpu(DeviceIndex gpu, DeviceIndex cpu, int count);
  /// NVLink-C2C to the CPU; a zero rate is looked up.
  void join_c2c(DeviceIndex gpu, DeviceIndex cpu, int count, Rate per_link);

  const Device& device(DeviceIndex i) const { return unit_.devices[i]; }
  std::size_t size() const { return unit_.devices.size(); }
  Notebook& notes() { return notes_; }

  /// The unit, and every notice so far. Error: nothing was added, or it does not hang
  /// together.
  Result<Document> finish(const char* format);

 private:
  static constexpr DeviceIndex kNoParent = 0xffff;
  struct Placement {
    DeviceIndex parent = kNoParent;
    PcieWire wire;
    int number = -1;
    std::string wanted_name;
  };
  struct Wiring {
    int nvlinks = 0;
    int peers = 0;  ///< GPUs and CPUs over NVLink
    bool has_c2c = false;
  };
  struct Bundle {
    LinkKind kind;
    DeviceIndex from, to;  ///< `to` counts switch chips where `into_switch`
    bool into_switch = false;
    int count = 0, count_back = 0, fitted = 0;
    Rate per_link;
  };
  Bundle& bundle(LinkKind kind, DeviceIndex from, DeviceIndex to, bool into_switch);
  DeviceIndex add(DeviceKind kind, DeviceIndex parent, PciInfo pci, PcieWire wire, int number);
  std::string unique_name(int host, std::string wanted);
  void number_devices(DeviceKind kind);
  void choose_gpu_parts();
  void sort_bundles();
  void merge_nvswitches();
  void add_nvswitches();
  int nvlink_generation(const Device& gpu) const;
  int pcie_generation_of(const Placement& place, const Device& child);
  void rate_nic(Device& nic, Rate slot);
  void wire_pcie();
  void wire_sockets();
  void wire_bundles();
  Link nvlink(const Device& gpu, int count, bool into_switch) const;
  std::vector<Wiring> wiring_by_device() const;
  const GpuPart* guess_part(const Device& gpu, const Wiring& wiring) const;
  const GpuPart* choose_gpu_part(const Device& gpu, const Wiring& wiring);
  std::string title() const;

  const ReadContext& context_;
  const Parts& parts_;
  Notebook notes_;
  UnitParts unit_;
  std::vector<Placement> placements_;  ///< by device
  std::vector<Bundle> bundles_;
  std::map<std::tuple<LinkKind, DeviceIndex, DeviceIndex, bool>, std::size_t> bundle_at_;
  std::vector<std::string> switch_keys_;              ///< by chip
  std::map<std::string, DeviceIndex> switch_number_;  ///< chip of a key
  std::vector<DeviceIndex> switch_device_;            ///< by chip
  std::map<std::pair<int, std::string>, int> names_;  ///< host and name: how often wanted
};

/// AMD families as NCCL before 2.2x wrote them, (extended << 4) | base, as what they are:
/// 143 is 23, 175 is 25. Others come back unchanged.
int plain_cpu_family(std::string_view vendor, int family);

/// The catalogue's CPU that is nearest to what a file tells; null when it has none.
const CpuPart* guess_cpu(const Parts& parts, const CpuInfo& info);

}  // namespace isleway::formats
