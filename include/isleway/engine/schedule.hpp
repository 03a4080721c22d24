// Who sends which bytes to whom, after what, and whether they are copied or reduced.
//
// A Schedule is a rule, not a list: any action of any stream can be asked for by number in
// constant time, so that a ring over 100,000 GPUs costs no memory. The same description
// serves the clock (engines) and the data (the checker, virtual GPUs).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "isleway/core/small_vector.hpp"
#include "isleway/core/units.hpp"

namespace isleway {

/// One end of a connection: a stream (a sequential program, such as one channel's thread
/// block) of an agent. Agents 0 to ranks-1 are GPUs; further ones are in the network
/// (the reducing and multicasting side of an NVSwitch).
struct Port {
  std::int32_t agent = 0;
  std::int32_t stream = 0;
  friend auto operator<=>(Port, Port) = default;
};

/// Part of a rank's user buffer, in bytes, or of memory that a schedule has for itself. In-place
/// calls make `input` and `output` views of the same memory; the schedule does not change.
struct Region {
  enum class Buffer : std::uint8_t { none, input, output, scratch };
  Buffer buffer = Buffer::none;
  std::int64_t offset = 0;
};

/// One step of a stream, all of it on the same number of bytes: wait for a message from
/// each `recv` port, combine them and the local `source` with the reduction, keep the
/// result at `store`, send it to each `send` port.
///
/// A connection is a FIFO from one port to another: messages arrive in the order sent.
/// Streams run concurrently; the actions of one run in order.
struct Action {
  std::int64_t bytes = 0;
  Region source;
  Region store;
  SmallVector<Port, 4> recv;
  SmallVector<Port, 4> send;

  void clear() {
    bytes = 0;
    source = store = Region{};
    recv.clear();
    send.clear();
  }
};

/// The action moves a rank's own data into its result, which no other rank needs or gave all
/// of: it copies in passing, or reduces what has gone all the way. Threads do that besides
/// sending. So do copies from one place of its memory to another that go no further.
inline bool serves_itself(const Action& action) {
  using Buffer = Region::Buffer;
  if (action.source.buffer == Buffer::scratch || action.store.buffer == Buffer::scratch)
    return action.source.buffer != Buffer::none && action.store.buffer != Buffer::none &&
           action.recv.empty() && action.send.empty();
  return action.source.buffer == Region::Buffer::input &&
         action.store.buffer == Region::Buffer::output &&
         (action.recv.empty() || action.send.empty());
}

/// All that one connection carries; from a port to itself, what its actions do that serve only
/// their own rank.
struct Load {
  Port from, to;
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
  bool reduces = false;  ///< from a port to itself: with what was received
};

/// Transfers that follow one another and that pipelining does not hide. The closed form adds
///
///   repeats x (overhead + max(0, latency - hiding) + bytes / rate),
///   hiding = hidden_bytes / rate + hidden_messages x overhead,
///
/// over the connection from -> to, for each step, to the time that the busiest link needs for
/// its load. So `bytes` are only those that wait for one another and are not in that load
/// already (filling a chain or a tree); a balanced ring's lock-step has none.
struct CriticalStep {
  Port from, to;
  std::int64_t bytes = 0;
  double repeats = 1;
  /// What the sender moves, as part of its load, while the message is under way: the other
  /// slices of the chunk. kAllHidden where latency never shows, only the overhead.
  std::int64_t hidden_bytes = 0;
  std::int64_t hidden_messages = 0;  ///< how many messages those are

  static constexpr std::int64_t kAllHidden = std::numeric_limits<std::int64_t>::max();
};

/// The ports that a stream receives from and sends to, each in the order in which its program
/// first names them.
struct Peers {
  std::vector<Port> receives, sends;

  void clear() {
    receives.clear();
    sends.clear();
  }
};

/// Actions of a stream that repeat: with k from `first` to first + (count - 1) x length - 1,
/// action k + length is action k, but for where in memory the bytes lie.
struct Loop {
  std::int64_t first = 0, length = 0, count = 0;
};

class Schedule {
 public:
  virtual ~Schedule() = default;

  virtual int ranks() const = 0;
  /// Ranks plus agents in the network.
  virtual int agents() const { return ranks(); }
  virtual int streams() const = 0;
  /// Memory that a rank needs beside the user's.
  virtual std::int64_t scratch_bytes([[maybe_unused]] int rank) const { return 0; }
  /// Partial results are stored in the user's buffers, the input too, before the final ones.
  virtual bool reuses_buffers() const { return false; }

  virtual std::int64_t action_count(Port port) const = 0;
  /// Fills `out` (cleared first) with action k of a stream, 0 <= k < action_count.
  virtual void action(Port port, std::int64_t k, Action& out) const = 0;

  /// Visits every connection once. The default walks all actions; rules that know better
  /// override it.
  virtual void loads(const std::function<void(const Load&)>& visit) const;

  /// As loads(), but of `alike` channels that carry the same between the same agents only one is
  /// visited. It stands for the others where a connection's way and price depend on its agents
  /// alone; schedules for which they may not visit each with 1.
  virtual void alike_loads(const std::function<void(const Load&, int alike)>& visit) const {
    loads([&](const Load& load) { visit(load, 1); });
  }

  /// Ports of equal role have equal programs once each peer is named by its place in peers():
  /// the same number of actions, and in each the same bytes, the same peers, and the same
  /// answer of serves_itself(). The default looks at every action; rules that know better
  /// override it.
  virtual std::uint64_t role(Port port) const;
  virtual void peers(Port port, Peers& out) const;
  /// Where a stream repeats itself. The default knows of nothing.
  virtual Loop loop([[maybe_unused]] Port port) const { return {}; }

  /// The dependent transfers of the call, for the closed form.
  virtual std::vector<CriticalStep> critical_path() const = 0;
};

/// "rank 3 stream 2" or "switch agent 9 stream 0", for messages.
std::string port_text(const Schedule& schedule, Port port);

}  // namespace isleway
