// The whole machine: units and the network between them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "isleway/fabric/network.hpp"
#include "isleway/fabric/unit.hpp"

namespace isleway {

/// A device anywhere in the fabric.
struct DeviceRef {
  std::uint32_t unit = 0;
  DeviceIndex device = 0;
  friend auto operator<=>(DeviceRef, DeviceRef) = default;
};

/// Number of a GPU in the fabric, 0 to gpu_count()-1: by unit, host, index. This is the
/// rank order of a job that uses every GPU.
using GpuId = std::uint32_t;

/// Fabric-wide number of a link: all units' links, then NIC cables, then trunks.
using LinkId = std::uint32_t;

/// Immutable. Copies are cheap to hold on to: units are shared, and a change operator
/// replaces only what it changes (see change.hpp).
class Fabric {
 public:
  Fabric() = default;
  /// `unit_template[i]` picks the template of unit i. One unit needs no network; several
  /// without a plan get an ideal, non-blocking one.
  static Result<Fabric> make(std::string name, std::vector<std::shared_ptr<const Unit>> templates,
                             std::vector<std::uint32_t> unit_template, NetworkPlan plan = {});
  static Result<Fabric> single(std::shared_ptr<const Unit> unit);

  const std::string& name() const { return name_; }
  std::uint32_t unit_count() const { return static_cast<std::uint32_t>(unit_template_.size()); }
  const Unit& unit(std::uint32_t i) const { return *templates_[unit_template_[i]]; }
  std::uint32_t template_of(std::uint32_t unit) const { return unit_template_[unit]; }
  const std::vector<std::shared_ptr<const Unit>>& templates() const { return templates_; }
  const std::vector<std::uint32_t>& unit_templates() const { return unit_template_; }
  const Network& network() const { return *network_; }

  std::uint32_t gpu_count() const { return gpu_base_.empty() ? 0 : gpu_base_.back(); }
  std::uint32_t host_count() const { return host_base_.empty() ? 0 : host_base_.back(); }
  DeviceRef gpu(GpuId id) const;
  GpuId gpu_id(DeviceRef gpu) const;
  /// The unit of a host, and the host's number within it.
  struct HostRef {
    std::uint32_t unit = 0;
    int host = 0;
  };
  HostRef host(std::uint32_t id) const;
  /// Fabric-wide number of the OS image that sees the device.
  std::uint32_t host_of(DeviceRef device) const;
  /// Fabric-wide NVLink domain of a GPU.
  std::uint32_t island_of(GpuId gpu) const;
  std::uint32_t island_count() const { return island_base_.empty() ? 0 : island_base_.back(); }
  const Device& device(DeviceRef ref) const { return unit(ref.unit).device(ref.device); }

  LinkId link_count() const { return trunk_base_ + static_cast<LinkId>(network().trunks().size()); }
  const Link& link(LinkId id) const;
  LinkId link_id(std::uint32_t unit, std::uint32_t unit_link) const {
    return link_base_[unit] + unit_link;
  }
  LinkId cable_id(DeviceRef nic) const;
  /// Where cables and trunks begin among the links.
  LinkId first_cable() const { return cable_base_; }
  LinkId first_trunk() const { return trunk_base_; }
  /// "GPU0-NVSwitch2", "node3/mlx5_0-leaf0.1": how results name a link.
  std::string link_name(LinkId id) const;
  /// "GPU3", or "node2/GPU3" where there are several hosts.
  std::string device_name(DeviceRef ref) const;

  /// A copy with other units or another network, everything derived anew. The network stays,
  /// so every unit keeps the number of its NICs.
  Fabric with_units(std::vector<std::shared_ptr<const Unit>> templates,
                    std::vector<std::uint32_t> unit_template) const;
  Fabric with_network(Network network) const;
  Fabric renamed(std::string name) const;

 private:
  void derive();
  std::string name_;
  std::vector<std::shared_ptr<const Unit>> templates_;
  std::vector<std::uint32_t> unit_template_;
  std::shared_ptr<const Network> network_ = std::make_shared<const Network>();
  /// Running sums over the units; one entry more than there are units.
  std::vector<std::uint32_t> gpu_base_, host_base_, nic_base_, island_base_;
  std::vector<LinkId> link_base_;
  LinkId cable_base_ = 0, trunk_base_ = 0;
};

/// The device that a user means by "gpu3", "GPU3", "mlx5_0", "nvswitch1", "node2/nic4" or
/// "rack1/NVSwitch5": names first, then kind and index. Without a node, the first host
/// that has such a device. Error: what there is, and the nearest name.
Result<DeviceRef> find_device(const Fabric& fabric, std::string_view text);

/// Between devices of the same or of different units. Across units, and between hosts of a
/// unit that nothing else joins: by the NIC nearest to each end whose cable works (see
/// nearest_nic), unless the ends are NICs themselves.
Route route(const Fabric& fabric, DeviceRef from, DeviceRef to);

/// The NIC with the best path kind, then the highest rate, then (several GPUs sharing
/// several equal NICs) the one whose turn it is by GPU index, as NCCL hands them out.
/// Nothing when the unit has no working NIC.
std::optional<DeviceIndex> nearest_nic(const Unit& unit, DeviceIndex gpu);

/// The highest rate that can flow in one direction from one set of GPUs to another over
/// all links at once (a maximum flow; `nominal` leaves the links' efficiency out). Other GPUs
/// may pass bytes on inside their unit, units for one another not. Unlimited when a GPU is on
/// both sides, zero when a side is empty. Equal units and switches are merged first, so
/// that 100,000 GPUs take no longer than their distinct parts.
Rate cut(const Fabric& fabric, std::span<const GpuId> from, std::span<const GpuId> to,
         bool nominal = true);

/// The cut between the first and the second half of the GPUs.
Rate bisection(const Fabric& fabric, bool nominal = true);

}  // namespace isleway
