// The machine as faults have left it, and what of it a process's programs are told.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "isleway/virtual/fault.hpp"
#include "isleway/virtual/world.hpp"

namespace isleway::vgpu {

/// A fabric with faults, and where the parts of the machine that the run began with are in it:
/// what is gone shifts the numbers of what is left.
class Present {
 public:
  /// A machine that cannot be described any more stays as `machine`.
  Present(const Fabric& machine, std::span<const Fault> in_force);

  const std::shared_ptr<const Fabric>& fabric() const { return fabric_; }
  /// The machine's GPU in fabric(); nothing: it is off the bus.
  std::optional<GpuId> gpu(GpuId of_machine) const { return gpus_[of_machine]; }
  /// Links of fabric() in the machine, by number, and links of that name; nothing: there is none.
  std::optional<LinkId> link_of_machine(LinkId link) const { return links_[link]; }
  std::optional<LinkId> link_of_machine(const std::string& name) const;

 private:
  std::shared_ptr<const Fabric> fabric_;
  std::vector<std::optional<GpuId>> gpus_;
  std::vector<std::optional<LinkId>> links_;
  std::map<std::string, LinkId> link_by_name_;  ///< of the machine
};

/// Why a GPU's contexts are of no use any more.
enum class GpuTrouble : std::uint8_t {
  none,
  off_the_bus,
  uncorrectable_ecc,
  nvlink,
  illegal_access,
  stopped,  ///< the engine that ran the kernel
};

/// What breaks in a run, as the clock of one process comes to it.
class FaultWatch {
 public:
  explicit FaultWatch(const World& world);

  /// True: the machine is not what it was when last asked. Cheap where nothing has come since.
  bool look(Time now);
  const std::shared_ptr<const Present>& present() const { return present_; }
  /// A context does not get over its trouble: what broke after this process began, mended or not.
  GpuTrouble trouble(GpuId gpu) const;
  /// No context can be made on GPUs behind NVSwitches.
  bool fabric_manager_down() const { return fabric_manager_down_; }

 private:
  void hit(const Fault& fault);

  const World& world_;
  std::vector<TimedFault> known_;
  std::size_t taken_ = 0;  ///< of known_, in the order of their times
  bool begun_ = false;
  std::vector<Fault> all_;
  std::shared_ptr<const Present> present_;
  std::map<GpuId, GpuTrouble> troubles_;
  bool fabric_manager_down_ = false;
};

}  // namespace isleway::vgpu
