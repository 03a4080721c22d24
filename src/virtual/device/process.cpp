#include "virtual/device/process.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "isleway/core.hpp"
#include "isleway/virtual/fault.hpp"
#include "virtual/clock/hooks.hpp"
#include "virtual/world/segment.hpp"

namespace isleway::vgpu {
namespace {

Time constant(const Parts& parts, const char* key) {
  const Constant* found = parts.constant(key);
  return found == nullptr ? Time() : Time::us(found->value);
}

bool is_behind_switches(const Fabric& machine, GpuId id) {
  const DeviceRef gpu = machine.gpu(id);
  const Unit& unit = machine.unit(gpu.unit);
  const int island = unit.island_of(gpu.device);
  for (DeviceIndex i = 0; island >= 0 && i < unit.devices().size(); ++i)
    if (unit.device(i).kind == DeviceKind::nvswitch && unit.island_of(i) == island) return true;
  return false;
}

}  // namespace

DriverCosts DriverCosts::from(const Parts& parts) {
  return {constant(parts, "driver.enqueue"), constant(parts, "driver.kernel"),
          constant(parts, "driver.allocate")};
}

Process& Process::get() {
  static Process& process = *new Process;  // threads may use it until the very end
  return process;
}

Process::Process() {
  auto world = World::join();
  if (!world) {
    trouble_ = world.error().text();
    fmt::print(stderr, "isleway: {}\n", trouble_);
    return;
  }
  world_ = std::move(*world);
  clock_ = std::make_unique<HostClock>(world_->plan().time, world_->plan().scale);
  memory_ = std::make_unique<Memory>(*world_);
  costs_ = DriverCosts::from(world_->parts());
  mapped_ = std::make_unique<MappedMemory>(*world_, *memory_);
  faults_ = std::make_unique<FaultWatch>(*world_);
  find_devices();
  install_clock(*clock_);
  ::pthread_atfork(nullptr, nullptr, [] {
    if (Process& process = get()) process.world_->rejoin();
  });
}

void Process::find_devices() {
  // What is off the bus already is not there for programs that begin.
  std::vector<GpuId> all = world_->gpus();
  std::erase_if(all, [&](GpuId gpu) { return !faults_->present()->gpu(gpu); });
  system_not_ready_ = faults_->fabric_manager_down() && std::ranges::any_of(all, [&](GpuId gpu) {
                        return is_behind_switches(world_->machine(), gpu);
                      });
  std::vector<GpuId> visible = all;
  if (const char* list = std::getenv("CUDA_VISIBLE_DEVICES")) {
    visible.clear();
    // As the driver does it: the list ends at the first entry that is no device.
    for (const std::string_view piece : split(list, ',')) {
      const auto index = parse_int(trim(piece));
      if (!index || *index < 0 || *index >= static_cast<std::int64_t>(all.size())) break;
      visible.push_back(all[static_cast<std::size_t>(*index)]);
    }
  }
  for (const GpuId gpu : visible) {
    Device device;
    device.gpu = gpu;
    devices_.push_back(device);
    const int index = device_count() - 1;
    devices_.back().default_stream = make_stream(index, false, 0);
    devices_.back().default_stream->is_default = true;
  }
}

int Process::device_of(GpuId gpu) const {
  for (int i = 0; i < device_count(); ++i)
    if (devices_[static_cast<std::size_t>(i)].gpu == gpu) return i;
  return -1;
}

int& Process::current_device() {
  thread_local int device = 0;
  return device;
}

const GpuPart* Process::part(int device) const {
  const Fabric& machine = world_->machine();
  const Device& d = devices_[static_cast<std::size_t>(device)];
  const isleway::Device& gpu = machine.device(machine.gpu(d.gpu));
  const GpuPart* part = world_->parts().gpu(gpu.part);
  return part != nullptr
             ? part
             : world_->parts().guess_gpu(gpu.pci.device, gpu.gpu().sm, gpu.gpu().nvlink_links);
}

bool Process::can_access(int device, int peer) {
  return device != peer && can_reach(gpu(device), gpu(peer));
}

bool Process::can_reach(GpuId gpu, GpuId peer) {
  const auto now = present();
  const auto from = now->gpu(gpu), to = now->gpu(peer);
  if (!from || !to) return false;
  const DeviceRef a = now->fabric()->gpu(*from), b = now->fabric()->gpu(*to);
  if (a == b) return true;
  return a.unit == b.unit && peer_access(now->fabric()->unit(a.unit), a.device, b.device);
}

bool Process::peer_enabled(int device, int peer) const {
  return devices_[static_cast<std::size_t>(device)].peers.contains(peer);
}

void Process::enable_peer(int device, int peer, bool on) {
  auto& peers = devices_[static_cast<std::size_t>(device)].peers;
  if (on) peers.insert(peer);
  else peers.erase(peer);
}

Stream* Process::make_stream(int device, bool non_blocking, int priority) {
  auto stream = std::make_unique<Stream>();
  stream->device = device;
  stream->id = timeline_.add_stream();
  stream->waits_for_default = !non_blocking;
  stream->flags = non_blocking ? 1 : 0;
  stream->priority = priority;
  streams_.insert(stream.get());
  own_streams_.push_back(std::move(stream));
  return own_streams_.back().get();
}

void Process::destroy(Stream* stream) {
  // Work that was put in goes on.
  streams_.erase(stream);
  timeline_.remove_stream(stream->id);
  own_streams_.remove_if([&](const auto& own) { return own.get() == stream; });
}

Stream* Process::thread_stream(int device) {
  thread_local std::map<int, Stream*> own;
  Stream*& stream = own[device];
  if (!knows(stream)) stream = make_stream(device, false, 0);
  return stream;
}

int& ThreadDefaultStream::depth() {
  thread_local int depth = 0;
  return depth;
}

Stream* Process::default_stream(int device) {
  return devices_[static_cast<std::size_t>(device)].default_stream;
}

std::shared_ptr<const Present> Process::present() {
  if (faults_->look(clock_->now())) copies_.reset();
  return faults_->present();
}

GpuTrouble Process::trouble_of(GpuId gpu) {
  present();
  return faults_->trouble(gpu);
}
GpuTrouble Process::trouble(int device) { return trouble_of(gpu(device)); }

}  // namespace isleway::vgpu
