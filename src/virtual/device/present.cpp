#include "virtual/device/present.hpp"

#include <algorithm>

#include "isleway/fabric/change.hpp"

namespace isleway::vgpu {
namespace {

/// A GPU that its NVLink domain does not take in uses none of its links.
Fabric without_cliques(Fabric fabric, const Fabric& machine, std::span<const Fault> in_force) {
  for (const Fault& fault : in_force) {
    if (!std::holds_alternative<Fault::Clique>(fault.kind)) continue;
    const std::string gpu = machine.device_name(fault.device);
    const int links = machine.device(fault.device).gpu().nvlink_links;
    // A link that is down already cannot go down again.
    for (int port = 0; port < links; ++port)
      if (auto cut = with_fault(fabric, gpu + ":nvlink" + std::to_string(port)))
        fabric = std::move(*cut);
  }
  return fabric;
}

/// NVIDIA's catalogue of Xids (https://docs.nvidia.com/deploy/xid-errors/): those after which
/// programs on the GPU cannot go on, and what CUDA tells them.
GpuTrouble trouble_of_xid(int code) {
  switch (code) {
    case 79: return GpuTrouble::off_the_bus;
    case 48:
    case 94:
    case 95: return GpuTrouble::uncorrectable_ecc;
    case 74:
    case 149: return GpuTrouble::nvlink;
    case 31: return GpuTrouble::illegal_access;
    case 13:
    case 43:
    case 45:
    case 62:
    case 69:
    case 109:
    case 119:
    case 120: return GpuTrouble::stopped;
    default: return GpuTrouble::none;
  }
}

}  // namespace

Present::Present(const Fabric& machine, std::span<const Fault> in_force) {
  const auto broken = with_faults(machine, in_force);
  fabric_ = std::make_shared<const Fabric>(
      without_cliques(broken ? *broken : machine, machine, in_force));
  for (GpuId id = 0; id < machine.gpu_count(); ++id) {
    const DeviceRef ref = machine.gpu(id);
    const isleway::Device& device = machine.device(ref);
    const auto left = fabric_->unit(ref.unit).find(device.name, device.host);
    gpus_.push_back(left ? std::optional(fabric_->gpu_id({ref.unit, *left})) : std::nullopt);
  }
  for (LinkId link = 0; link < machine.link_count(); ++link)
    link_by_name_.emplace(machine.link_name(link), link);
  for (LinkId link = 0; link < fabric_->link_count(); ++link)
    links_.push_back(link_of_machine(fabric_->link_name(link)));
}

std::optional<LinkId> Present::link_of_machine(const std::string& name) const {
  const auto found = link_by_name_.find(name);
  return found == link_by_name_.end() ? std::nullopt : std::optional(found->second);
}

FaultWatch::FaultWatch(const World& world) : world_(world) {
  look(Time());
  begun_ = true;
}

bool FaultWatch::look(Time now) {
  if (known_.size() != world_.fault_count()) {
    std::vector<TimedFault> all = world_.faults();
    // What was injected since may lie before what is known already.
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(known_.size()));
    known_.insert(known_.end(), all.begin(), all.end());
    std::stable_sort(known_.begin() + static_cast<std::ptrdiff_t>(taken_), known_.end(),
                     [](const TimedFault& a, const TimedFault& b) { return a.at < b.at; });
  }
  bool changed = !present_;
  for (; taken_ < known_.size() && known_[taken_].at <= now; ++taken_) {
    auto fault = parse_fault(world_.machine(), known_[taken_].text);
    if (!fault) continue;
    all_.push_back(*fault);
    // A repair of what is whole changes nothing.
    if (!faults_in_force(all_)) {
      all_.pop_back();
      continue;
    }
    if (begun_) hit(*fault);
    changed = true;
  }
  if (!changed) return false;
  const auto in_force = faults_in_force(all_);
  present_ = std::make_shared<const Present>(world_.machine(), *in_force);
  for (GpuId gpu = 0; begun_ && gpu < world_.machine().gpu_count(); ++gpu)
    if (!present_->gpu(gpu)) troubles_.emplace(gpu, GpuTrouble::off_the_bus);
  fabric_manager_down_ = std::ranges::any_of(*in_force, [](const Fault& fault) {
    return std::holds_alternative<Fault::FabricManager>(fault.kind);
  });
  return true;
}

void FaultWatch::hit(const Fault& fault) {
  GpuTrouble trouble = GpuTrouble::none;
  if (const auto* xid = std::get_if<Fault::Xid>(&fault.kind)) trouble = trouble_of_xid(xid->code);
  if (const auto* ecc = std::get_if<Fault::Ecc>(&fault.kind); ecc != nullptr && !ecc->corrected)
    trouble = GpuTrouble::uncorrectable_ecc;
  // The first is what a context died of.
  if (trouble != GpuTrouble::none)
    troubles_.emplace(world_.machine().gpu_id(fault.device), trouble);
}

GpuTrouble FaultWatch::trouble(GpuId gpu) const {
  const auto found = troubles_.find(gpu);
  if (found != troubles_.end()) return found->second;
  return present_->gpu(gpu) ? GpuTrouble::none : GpuTrouble::off_the_bus;
}

}  // namespace isleway::vgpu
