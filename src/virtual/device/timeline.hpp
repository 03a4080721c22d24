// When the work that a program put into streams begins and ends.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "isleway/core/units.hpp"
#include "isleway/engine/max_min.hpp"

namespace isleway::vgpu {

/// Of one piece of work.
struct WorkState {
  bool resolved = false;  ///< `end` is known, and cannot change any more
  Time end;
};
using Ticket = std::shared_ptr<WorkState>;

/// When work that several streams do together ends, once it has begun.
struct JointTimes {
  Time end;
  Time next;  ///< from when on the next of the same group may begin
};

/// Work that begins when all its streams have come to it, and maybe other processes.
class Joint {
 public:
  virtual ~Joint() = default;
  /// Of this process.
  virtual std::size_t streams() const = 0;
  /// All of this process's streams are here since `ready`. Nothing: others are still missing.
  virtual std::optional<JointTimes> begin(Time ready) = 0;
  /// Follows its predecessor of the same group without waiting for all of it.
  virtual const void* group() const { return nullptr; }
};

/// Bytes that share links with other bytes.
struct Flow {
  std::uint32_t path = 0;      ///< as Timeline::add_path numbers them
  std::int64_t opposite = -1;  ///< the path against it, whose flows slow this one down
  double bytes = 0;
  Time latency;  ///< before the first byte
};

struct Work {
  enum class Kind : std::uint8_t {
    fixed,  ///< takes `duration`
    flow,
    latch,  ///< ends when the host next waits for something: kernels that spin on a flag
    joint,
  };
  Kind kind = Kind::fixed;
  Time duration;
  Flow flow;
  std::shared_ptr<Joint> joint;
  std::vector<Ticket> after;
  std::function<void()> effect;                    ///< done when the work is resolved
  std::function<void(Time begin, Time end)> done;  ///< told when it was at work
};

/// A discrete-event simulation of one process's streams. What depends on nobody else is resolved
/// as soon as it is put in; flows only as far as time has come, since later ones slow them down.
class Timeline {
 public:
  using StreamId = std::uint32_t;

  StreamId add_stream();
  void remove_stream(StreamId stream);

  /// A resource is a rate in bytes per second.
  std::uint32_t add_resource(double rate) { return rates_.add_resource(rate); }
  /// A way for bytes: resources, and its own limit.
  std::uint32_t add_path(std::span<const Usage> uses, double limit);

  Ticket put(StreamId stream, Time now, Work work);
  /// What `stream` does from now on begins after `ticket`.
  void wait(StreamId stream, const Ticket& ticket);
  /// The last work of the stream; resolved at time 0 when it never had any.
  Ticket last(StreamId stream) const;

  /// The host has come to `now`, and waits for something where `waits`.
  void advance(Time now, bool waits);
  /// Simulates until the work is resolved. False: it waits for other threads or processes.
  bool run_until(const Ticket& ticket);

 private:
  struct Item {
    Work work;
    Time put_at;
    Ticket ticket;
  };
  struct Stream {
    std::deque<Item> items;
    std::vector<Ticket> before_next;
    Time free_at;
    const void* group = nullptr;  ///< of its last work
    Time free_for_group;
    Ticket last;
    bool busy = false;                  ///< its first item flows, or is about to
    std::optional<Time> flowing_since;  ///< its last work was a flow; its first byte
    bool alive = true;
  };
  struct Moving {
    StreamId stream;
    std::uint32_t path;
    std::int64_t opposite;
    double left;
    Time began;
    Time starts;  ///< the first byte
    bool started = false;
    std::uint32_t rate_class = 0;
  };

  void pump();
  bool step(StreamId id);
  std::optional<Time> ready_at(Stream& stream);
  void resolve(StreamId id, Time begin, Time end);
  bool step_joint(StreamId id, Time ready);
  std::optional<Time> next_flow_event() const;
  void flow_to(Time to);
  void recount();

  std::vector<Stream> streams_;
  std::vector<StreamId> waiting_;  ///< that have items
  std::map<Joint*, std::pair<std::vector<StreamId>, Time>> gathering_;
  std::vector<Moving> moving_;
  MaxMinSolver rates_;
  std::vector<std::uint32_t> path_class_;
  Time flow_now_;
  Time released_ = Time::ps(-1);  ///< latches that were ready until then are open
};

}  // namespace isleway::vgpu
