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

/// How long other processes are waited for before a look at whether they still live.
constexpr int kLookMs = 100;

Time constant(const Parts& parts, const char* key) {
  const Constant* found = parts.constant(key);
  return found == nullptr ? Time() : Time::us(found->value);
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
  fabric_ = std::make_shared<const Fabric>(world_->machine());
  find_devices();
  install_clock(*clock_);
  ::pthread_atfork(nullptr, nullptr, [] {
    if (Process& process = get()) process.world_->rejoin();
  });
}

void Process::find_devices() {
  const auto& all = world_->gpus();
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

bool Process::can_access(int device, int peer) const {
  if (device == peer) return false;
  const DeviceRef a = fabric_->gpu(gpu(device)), b = fabric_->gpu(gpu(peer));
  return a.unit == b.unit && peer_access(fabric_->unit(a.unit), a.device, b.device);
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

Stream* Process::default_stream(int device) {
  return devices_[static_cast<std::size_t>(device)].default_stream;
}

Event* Process::make_event(int device, unsigned flags) {
  auto event = std::make_unique<Event>();
  event->device = device;
  event->flags = flags;
  event->timed = (flags & 2u) == 0;
  events_.insert(event.get());
  own_events_.push_back(std::move(event));
  return own_events_.back().get();
}

void Process::destroy(Event* event) {
  events_.erase(event);
  own_events_.remove_if([&](const auto& own) { return own.get() == event; });
}

Ticket Process::put(Stream& stream, Work work) {
  polled_.clear();
  // The default stream of a device waits for all its streams, and they for it.
  if (stream.is_default) {
    for (const Stream* other : streams_)
      if (other->device == stream.device && other != &stream && other->waits_for_default)
        work.after.push_back(timeline_.last(other->id));
  } else if (stream.waits_for_default) {
    work.after.push_back(timeline_.last(default_stream(stream.device)->id));
  }
  std::erase_if(work.after,
                [](const Ticket& ticket) { return ticket->resolved && ticket->end == Time(); });
  const GpuId gpu = this->gpu(stream.device);
  work.done = [this, gpu, told = std::move(work.done)](Time begin, Time end) {
    world_->count_busy(gpu, end - begin);
    if (told) told(begin, end);
  };
  const bool joint = work.kind == Work::Kind::joint;
  const Time now = clock_->now();
  timeline_.advance(now, false);
  Ticket ticket = timeline_.put(stream.id, now, std::move(work));
  world_->set_clock(now);
  if (joint) world_->lock().announce();
  return ticket;
}

std::string Process::synchronize(const Ticket& ticket) {
  polled_.clear();
  timeline_.advance(clock_->now(), true);
  while (!timeline_.run_until(ticket)) {
    const std::uint32_t seen = world_->lock().announced();
    // Once more, now that a change after this would be noticed.
    if (timeline_.run_until(ticket)) break;
    mutex_.unlock();
    world_->lock().wait(seen, kLookMs);
    mutex_.lock();
    for (const Watch& watch : watches_)
      if (std::string why = watch(); !why.empty() && !timeline_.run_until(ticket)) return why;
  }
  do_deferred();
  clock_->wait_until(ticket->end);
  world_->set_clock(clock_->now());
  return {};
}

std::string Process::synchronize_device(int device) {
  std::string why;
  for (const Stream* stream : std::vector(streams_.begin(), streams_.end()))
    if (why.empty() && stream->device == device) why = synchronize(timeline_.last(stream->id));
  return why;
}

bool Process::poll(const Ticket& ticket) {
  const Time now = clock_->now();
  timeline_.advance(now, true);
  const auto is_done = [&](const Ticket& t) { return t->resolved && t->end <= clock_->now(); };
  if (is_done(ticket)) {
    do_deferred();
    std::erase(polled_, ticket);
    return true;
  }
  if (std::ranges::find(polled_, ticket) == polled_.end()) {
    polled_.push_back(ticket);
    return false;
  }
  if (!clock_->simulated()) return false;
  // Asked again, with nothing done in between: time goes on to the next thing asked about.
  for (int tries = 0; tries < 2; ++tries) {
    std::optional<Time> next;
    for (const Ticket& asked : polled_)
      if (timeline_.run_until(asked)) next = next ? std::min(*next, asked->end) : asked->end;
    if (next) {
      clock_->wait_until(*next);
      world_->set_clock(*next);
      break;
    }
    const std::uint32_t seen = world_->lock().announced();
    mutex_.unlock();
    world_->lock().wait(seen, kLookMs);
    mutex_.lock();
    for (const Watch& watch : watches_) watch();
  }
  const bool done = is_done(ticket);
  std::erase_if(polled_, is_done);
  return done;
}

Copies& Process::copies() {
  auto now = fabric();
  if (!copies_) copies_ = std::make_unique<Copies>(now, world_->parts(), timeline_);
  return *copies_;
}

Result<Work> Process::copy_work(void* to, const void* from, std::uint64_t bytes) {
  const Block* target = memory_->find(to);
  const Block* source = memory_->find(from);
  const auto place = [](const Block* block) -> std::optional<GpuId> {
    if (block == nullptr || block->on_host()) return std::nullopt;
    return block->gpu;
  };
  const auto a = place(source), b = place(target);
  bool peers = true;
  if (a && b && *a != *b) {
    const int da = device_of(*a), db = device_of(*b);
    peers = da < 0 || db < 0 || peer_enabled(da, db) || peer_enabled(db, da);
  }
  Work work;
  if (bytes > 0 && (a || b)) {
    auto flow = copies().flow(a, b, peers, bytes);
    if (!flow) return tl::unexpected(flow.error());
    work.kind = Work::Kind::flow;
    work.flow = *flow;
  }
  const Span reads{static_cast<const std::byte*>(from), bytes};
  const Span writes{static_cast<const std::byte*>(to), bytes};
  work.effect = [this, reads, writes, to, from, bytes, a, b, peers] {
    copies().count(a, b, peers, bytes, [this](LinkId link, bool forward, std::uint64_t count) {
      world_->count_link_bytes(link, forward, count);
    });
    do_data({{reads}, {writes}, [to, from, bytes] { std::memmove(to, from, bytes); }});
  };
  return work;
}

void Process::do_deferred() {
  const auto all = std::exchange(deferred_, {});
  for (const auto& [order, op] : all) do_data(op);
}

void Process::settle(const void* address, std::uint64_t bytes) {
  do_deferred();
  data_.settle({static_cast<const std::byte*>(address), bytes});
}

void Process::free_device(void* address) {
  const Block* block = memory_->find(address);
  if (block == nullptr) return;
  data_.forget({block->base, block->bytes});
  memory_->retire(block->base);
  memory_->release([this](const Block& old) { return data_.mentions({old.base, old.bytes}); });
}

void Process::do_data(DataOp op) {
  if (!world_->plan().data) return;
  if (std::ranges::any_of(deferred_, [&](const auto& other) { return conflict(op, other.second); }))
    do_deferred();
  // What the host, or another process, can look at without asking must be there.
  const bool seen = std::ranges::any_of(op.writes, [&](const Span& span) {
    const Block* block = memory_->find(span.first);
    return block == nullptr || block->space != Space::device;
  });
  const bool from_outside = std::ranges::any_of(op.reads, [&](const Span& span) {
    const Block* block = memory_->find(span.first);
    return block == nullptr || block->space != Space::device;
  });
  const std::vector<Span> writes = op.writes, reads = op.reads;
  data_.add(std::move(op));
  if (seen)
    for (const Span& span : writes) data_.settle(span);
  // The program may write its own memory from now on.
  if (from_outside)
    for (const Span& span : writes) data_.settle(span);
}

std::shared_ptr<const Fabric> Process::fabric() {
  const Time now = clock_->now();
  std::vector<Fault> due;
  for (const TimedFault& timed : world_->faults())
    if (timed.at <= now)
      if (auto fault = parse_fault(world_->machine(), timed.text)) due.push_back(std::move(*fault));
  if (due.size() == faults_known_) return fabric_;
  faults_known_ = due.size();
  const auto broken = faults_in_force(due).and_then(
      [&](const std::vector<Fault>& in_force) { return with_faults(world_->machine(), in_force); });
  // A machine that cannot be described any more stays as it was last.
  if (broken) fabric_ = std::make_shared<const Fabric>(*broken);
  copies_.reset();
  return fabric_;
}

}  // namespace isleway::vgpu
