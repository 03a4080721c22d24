// The programs of a schedule in execution: which stream is at which action, and what it
// waits for. Knows messages and credits, but not time.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "isleway/engine/engine.hpp"

namespace isleway {

using StreamId = std::uint32_t;
using PipeId = std::uint32_t;

/// A connection that is in use.
struct Pipe {
  StreamId from = 0, to = 0;
  Connection connection;
  std::uint32_t flow_class = UINT32_MAX;  ///< for the engine; set with the first message
  std::int64_t arrived = 0;               ///< messages that the receiver has not taken yet
  std::int64_t unconsumed = 0;            ///< messages sent and not yet consumed
  bool receiver_waits = false, sender_waits = false;
};

/// An action may begin when its program has reached it, one message from each of its sources
/// has arrived and each of its sends has a credit. Beginning takes the messages and the
/// credits; ending consumes the messages, which gives their senders the credits back.
class Programs {
 public:
  Programs(const Schedule& schedule, const Wiring& wiring) : schedule_(schedule), wiring_(wiring) {}

  /// Brings every stream to its first action. Error: too many streams to hold.
  Result<void> load_all();

  /// Streams whose action may begin now, in the order in which they became able to; the
  /// caller begins each and clears the list.
  std::vector<StreamId>& ready() { return ready_; }

  void begin(StreamId stream);
  void arrive(PipeId pipe);
  /// Ends the action that began, and goes on to the next.
  Result<void> end(StreamId stream);

  Pipe& pipe(PipeId id) { return pipes_[id]; }
  std::span<const PipeId> sends(StreamId stream) const {
    return std::span(streams_[stream].pipes).subspan(streams_[stream].receives);
  }
  std::int64_t bytes(StreamId stream) const { return streams_[stream].bytes; }
  /// Bytes with which the action serves only its own rank, and whether it reduces them.
  std::pair<std::int64_t, bool> own_bytes(StreamId stream) const {
    const Stream& s = streams_[stream];
    return {s.serves_itself ? s.bytes : 0, s.receives > 0};
  }
  /// Of the action's sends, those that are still flowing; kept here for the engine.
  std::uint32_t& flowing(StreamId stream) { return streams_[stream].flowing; }

  bool finished() const { return left_ == 0; }
  /// Who waits for whom, when nothing moves any more and not all is finished.
  Error stuck() const;

 private:
  struct Stream {
    std::int64_t at = -1, count = 0;  ///< the current action, and how many there are
    std::int64_t bytes = 0;
    std::uint32_t missing = 0;  ///< messages and credits that the action waits for
    std::uint32_t flowing = 0, receives = 0;
    bool serves_itself = false;
    std::vector<PipeId> pipes;  ///< of the action: its receives, then its sends
  };

  Port port(StreamId stream) const;
  Result<StreamId> stream_of(Port port, Port named_by) const;
  Result<PipeId> pipe_between(StreamId from, StreamId to);
  Result<void> next(StreamId stream);
  void fulfil(StreamId stream);

  const Schedule& schedule_;
  const Wiring& wiring_;
  std::vector<Stream> streams_;
  std::vector<Pipe> pipes_;
  std::unordered_map<std::uint64_t, PipeId> pipe_of_;
  std::vector<StreamId> ready_;
  std::size_t left_ = 0;
  Action action_;
};

}  // namespace isleway
