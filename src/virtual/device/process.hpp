// Everything that the libraries of one process share: devices, streams, memory, time.
#pragma once

#include <array>
#include <list>
#include <mutex>
#include <set>
#include <string>

#include "virtual/clock/host_clock.hpp"
#include "virtual/device/copies.hpp"
#include "virtual/device/data_log.hpp"
#include "virtual/device/mapped.hpp"
#include "virtual/device/memory.hpp"
#include "virtual/device/present.hpp"
#include "virtual/device/timeline.hpp"

namespace isleway::vgpu {

struct Capture;

/// cudaStream_t and CUstream point to one.
struct Stream {
  int device = 0;
  Timeline::StreamId id = 0;
  bool waits_for_default = true;  ///< false: made non-blocking
  bool is_default = false;
  int priority = 0;
  unsigned flags = 0;
  std::shared_ptr<Capture> capture;  ///< what is put in is recorded instead
};

/// cudaEvent_t and CUevent point to one.
struct Event {
  int device = 0;
  bool timed = true;
  unsigned flags = 0;
  Ticket ticket;  ///< of its last record; null before
  std::weak_ptr<Capture> captured_in;
  int captured_node = -1;
  std::uint64_t shared = 0;  ///< its place in the world, where other processes know it; 0: none
  bool opened = false;       ///< another process's
  std::uint64_t seen = 0;    ///< of an opened one: the record that `ticket` is of
  std::optional<Timeline::StreamId> watcher;
};

/// While it lives, stream 0 means the calling thread's own stream.
class ThreadDefaultStream {
 public:
  ThreadDefaultStream() { ++depth(); }
  ~ThreadDefaultStream() { --depth(); }
  ThreadDefaultStream(const ThreadDefaultStream&) = delete;
  ThreadDefaultStream& operator=(const ThreadDefaultStream&) = delete;
  static bool wanted() { return depth() > 0; }

 private:
  static int& depth();
};

/// What host calls take, and what devices need for small things. From machines/parts.
struct DriverCosts {
  Time enqueue;   ///< of the host, for a launch or an asynchronous copy
  Time kernel;    ///< of the GPU, for a kernel that does next to nothing
  Time allocate;  ///< of the host, for memory
  static DriverCosts from(const Parts& parts);
};

class Process {
 public:
  /// The process's own; made when first asked for. C's interfaces leave no other place for it.
  static Process& get();
  /// Why there are no devices; empty when all is well.
  const std::string& trouble() const { return trouble_; }
  explicit operator bool() const { return trouble_.empty(); }

  /// Everything below is called with this held.
  std::unique_lock<std::recursive_mutex> hold() { return std::unique_lock(mutex_); }

  World& world() { return *world_; }
  HostClock& clock() { return *clock_; }
  Timeline& timeline() { return timeline_; }
  Memory& memory() { return *memory_; }
  MappedMemory& mapped() { return *mapped_; }
  DataLog& data() { return data_; }
  const DriverCosts& costs() const { return costs_; }

  // Devices, as CUDA_VISIBLE_DEVICES orders them.
  int device_count() const { return static_cast<int>(devices_.size()); }
  GpuId gpu(int device) const { return devices_[static_cast<std::size_t>(device)].gpu; }
  int device_of(GpuId gpu) const;  ///< -1: not seen
  int& current_device();           ///< of the calling thread
  const GpuPart* part(int device) const;
  bool can_access(int device, int peer);
  /// The same for GPUs of other hosts too, and for one GPU and itself.
  bool can_reach(GpuId gpu, GpuId peer);
  bool peer_enabled(int device, int peer) const;
  void enable_peer(int device, int peer, bool on);

  // Streams and events.
  Stream* make_stream(int device, bool non_blocking, int priority);
  void destroy(Stream* stream);
  Stream* default_stream(int device);
  /// Of the calling thread, where programs are compiled to have one each.
  Stream* thread_stream(int device);
  bool knows(const Stream* stream) const { return streams_.contains(stream); }
  const std::set<const Stream*>& streams() const { return streams_; }
  Event* make_event(int device, unsigned flags);
  void destroy(Event* event);
  bool knows(const Event* event) const { return events_.contains(event); }
  /// The event happens when all that is in the stream is done.
  void record(Event& event, Stream& stream);
  /// Makes the event known to other processes. False: there is no more room for it.
  bool share(Event& event);
  /// Another process's, by what share() made of it.
  Event* open_event(int device, std::uint64_t shared);
  /// Of the last record, in whichever process.
  const Ticket& ticket(Event& event);

  /// Puts work into a stream, after what default streams demand.
  Ticket put(Stream& stream, Work work);
  void wait(Stream& stream, const Ticket& ticket) { timeline_.wait(stream.id, ticket); }

  /// The calling thread waits until the work is done. Empty, or why it never will be.
  std::string synchronize(const Ticket& ticket);
  std::string synchronize_device(int device);
  /// Whether the work is done at the calling thread's time. A thread that asks again without
  /// having done anything else waits, in simulated time, for the next of what it asked about.
  bool poll(const Ticket& ticket);
  /// Something else than polling went on.
  void stop_polling() { polled_.clear(); }

  /// A copy's work; `Flow` for none where it stays on the host.
  Result<Work> copy_work(void* to, const void* from, std::uint64_t bytes);
  /// Of a small read, one way; nothing stands for host memory. Nothing: there is no way.
  std::optional<Time> latency(GpuId from, std::optional<GpuId> to);
  /// Bytes are about to be read or written by the program itself.
  void settle(const void* address, std::uint64_t bytes);
  /// The program frees device memory.
  void free_device(void* address);
  /// An operation on data, now that its time has come. At once where the host could see it.
  void do_data(DataOp op);
  /// One of several that belong together, to be done in the order of their numbers, before
  /// anything else touches their data.
  void defer_data(int order, DataOp op) { deferred_.emplace(order, std::move(op)); }
  void do_deferred();

  /// The machine with the faults that are in force now.
  std::shared_ptr<const Present> present();
  std::shared_ptr<const Fabric> fabric() { return present()->fabric(); }
  /// Whether a context on the device can still be used, now.
  GpuTrouble trouble(int device);
  GpuTrouble trouble_of(GpuId gpu);
  /// The process began while the fabric manager was down: it gets no context.
  bool system_not_ready() const { return system_not_ready_; }

  /// Called while waiting for others, without the lock; says why it is in vain.
  using Watch = std::function<std::string()>;
  void watch(Watch watch) { watches_.push_back(std::move(watch)); }

 private:
  Process();
  struct Device {
    GpuId gpu = 0;
    Stream* default_stream = nullptr;
    std::set<int> peers;
  };
  void find_devices();
  Copies& copies();
  Result<Work> multicast_work(std::byte* to, const std::byte* from, std::uint64_t bytes);

  std::recursive_mutex mutex_;
  std::string trouble_;
  std::unique_ptr<World> world_;
  std::unique_ptr<HostClock> clock_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<MappedMemory> mapped_;
  DriverCosts costs_;
  DataLog data_;
  std::multimap<int, DataOp> deferred_;
  Timeline timeline_;
  std::vector<Device> devices_;
  std::set<const Stream*> streams_;
  std::set<const Event*> events_;
  std::list<std::unique_ptr<Stream>> own_streams_;
  std::list<std::unique_ptr<Event>> own_events_;
  std::vector<Ticket> polled_;
  std::unique_ptr<Copies> copies_;
  std::unique_ptr<FaultWatch> faults_;
  bool system_not_ready_ = false;
  std::vector<Watch> watches_;
};

}  // namespace isleway::vgpu
