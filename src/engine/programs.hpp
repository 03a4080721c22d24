// The programs of a schedule in execution: which stream is at which action, and what it
// waits for. Knows messages and credits, but not time.
#pragma once

#include <cstdint>
#include <optional>
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
  std::uint32_t copies = 1;               ///< equal connections that share this one's links
  std::int32_t arrived = 0;               ///< messages that the receiver has not taken yet
  std::int32_t unconsumed = 0;            ///< messages sent and not yet consumed
  bool receiver_waits = false, sender_waits = false;
};

/// Which connection: the streams at its ends, by agent and stream number.
using PipeKey = std::uint64_t;
inline PipeKey pipe_key(StreamId from, StreamId to) { return std::uint64_t{from} << 32 | to; }

/// Only some of a schedule's streams, each of which stands for all that do the same.
struct FoldedStreams {
  std::vector<StreamId> chosen;  ///< which streams of the schedule run
  /// Those that follow in `chosen` run elsewhere and only have names here.
  std::size_t running = SIZE_MAX;
  std::vector<StreamId> stands_in;  ///< by stream of the schedule: place in `chosen`
  std::vector<Pipe> pipes;          ///< `from` and `to` are places in `chosen`
  /// By the names that the programs of the chosen streams use.
  std::unordered_map<PipeKey, PipeId> pipe_of;
};

/// An action may begin when its program has reached it, one message from each of its sources
/// has arrived and each of its sends has a credit. Beginning takes the messages and the
/// credits; ending consumes the messages, which gives their senders the credits back.
class Programs {
 public:
  /// What becomes of the credit of a message that was consumed: its sender has it at once, or the
  /// caller is told and gives it.
  enum class Credits : std::uint8_t { at_once, told };

  /// `folded` may be null: all streams run. Otherwise streams are places in `chosen`.
  Programs(const Schedule& schedule, const Wiring& wiring, const FoldedStreams* folded = nullptr,
           Credits credits = Credits::at_once)
      : schedule_(schedule), wiring_(wiring), folded_(folded), credits_(credits) {}

  /// Brings every stream to its first action. Again after all has ended: starts anew. Error:
  /// too many streams to hold.
  Result<void> load_all();

  /// Streams whose action may begin now, in the order in which they became able to; the
  /// caller begins each and clears the list.
  std::vector<StreamId>& ready() { return ready_; }

  void begin(StreamId stream);
  void arrive(PipeId pipe);
  /// The sender may have one more message under way.
  void credit(PipeId pipe);
  /// Where credits are told: of which pipes a message was consumed; the caller clears the list.
  std::vector<PipeId>& consumed() { return consumed_; }
  /// Ends the action that began, and goes on to the next. False: error() says what is wrong
  /// with that. (A Result for each of a million actions costs as much as the action.)
  [[nodiscard]] bool end(StreamId stream);
  const Error& error() const { return *error_; }

  Pipe& pipe(PipeId id) { return pipes_[id]; }
  std::span<const Pipe> pipes() const { return pipes_; }
  std::size_t stream_count() const { return streams_.size(); }
  std::size_t sends(StreamId stream) const {
    return streams_[stream].peers - streams_[stream].receives;
  }
  /// The pipe of the action's send number i.
  PipeId send_pipe(StreamId stream, std::size_t i) const {
    return peers_[streams_[stream].first_peer + streams_[stream].receives + i].pipe;
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
  /// The action that a stream is at; action_count when it has ended.
  std::int64_t at(StreamId stream) const { return streams_[stream].at; }
  std::int64_t action_count(StreamId stream) const { return streams_[stream].count; }
  /// Goes on by `actions`, as if they had been done. The action that it comes to must be like
  /// the one that it leaves.
  void skip(StreamId stream, std::int64_t actions) { streams_[stream].at += actions; }
  /// Appends what messages, credits and actions under way there are.
  void append_state(std::vector<std::uint64_t>& words) const;
  /// Who waits for whom, when nothing moves any more and not all is finished.
  Error stuck() const;

  Port port(StreamId stream) const;

 private:
  struct Stream {
    std::int64_t at = -1, count = 0;  ///< the current action, and how many there are
    std::int64_t bytes = 0;
    std::uint32_t missing = 0;  ///< messages and credits that the action waits for
    std::uint32_t flowing = 0;
    /// The action's receives, then its sends, in peers_; and for how many there is room.
    std::uint32_t first_peer = 0, peers = 0, room = 0, receives = 0;
    bool serves_itself = false;
  };
  struct Peer {
    PipeKey key = UINT64_MAX;
    PipeId pipe = 0;
  };

  StreamId number(StreamId stream) const {
    return folded_ == nullptr ? stream : folded_->chosen[stream];
  }
  bool exists(Port port) const {
    return port.agent >= 0 && port.agent < schedule_.agents() && port.stream >= 0 &&
           port.stream < schedule_.streams();
  }
  PipeId find_pipe(PipeKey key);
  void add_peer(StreamId id, std::size_t i, Port peer, Port self);
  void make_room(Stream& stream, std::size_t peers);
  bool next(StreamId stream);
  void fulfil(StreamId stream);

  const Schedule& schedule_;
  const Wiring& wiring_;
  const FoldedStreams* folded_;
  Credits credits_;
  std::vector<Stream> streams_;
  std::vector<Peer> peers_;
  std::vector<Pipe> pipes_;
  std::unordered_map<PipeKey, PipeId> pipe_of_;
  std::vector<StreamId> ready_;
  std::vector<PipeId> consumed_;
  std::size_t left_ = 0;
  Action action_;
  std::optional<Error> error_;
};

}  // namespace isleway
