#include "engine/programs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/link_use.hpp"

namespace isleway {
namespace {

// About 4 GiB of streams; beyond that the closed form is the tool.
constexpr std::int64_t kMostStreams = std::int64_t{1} << 25;

}  // namespace

Port Programs::port(StreamId stream) const {
  const auto streams = static_cast<StreamId>(schedule_.streams());
  const StreamId id = number(stream);
  return {static_cast<std::int32_t>(id / streams), static_cast<std::int32_t>(id % streams)};
}

Result<void> Programs::load_all() {
  const std::int64_t all =
      folded_ != nullptr
          ? static_cast<std::int64_t>(std::min(folded_->running, folded_->chosen.size()))
          : std::int64_t{schedule_.agents()} * schedule_.streams();
  if (all > kMostStreams)
    return fail(fmt::format("{} streams are too many to simulate one by one", all),
                fmt::format("at most {}", kMostStreams), "use the analytic engine");
  streams_.resize(static_cast<std::size_t>(all));
  left_ = streams_.size();
  if (folded_ != nullptr && pipes_.empty()) pipes_ = folded_->pipes;
  for (StreamId s = 0; s < streams_.size(); ++s) {
    streams_[s].at = -1;
    streams_[s].count = schedule_.action_count(port(s));
    if (!next(s)) return tl::unexpected(error());
  }
  return {};
}

/// A pipe that does not matter, after an error.
PipeId Programs::find_pipe(PipeKey key) {
  if (folded_ != nullptr) {
    if (const auto found = folded_->pipe_of.find(key); found != folded_->pipe_of.end())
      return found->second;
    error_ = Error{{}, "streams name others than their roles and loads say", "", ""};
    return 0;
  }
  const auto [found, is_new] = pipe_of_.try_emplace(key, static_cast<PipeId>(pipes_.size()));
  if (is_new) {
    Pipe pipe;
    pipe.from = static_cast<StreamId>(key >> 32);
    pipe.to = static_cast<StreamId>(key);
    auto connection = checked_connection(schedule_, wiring_, port(pipe.from), port(pipe.to));
    if (connection) pipe.connection = *connection;
    else error_ = connection.error();
    pipes_.push_back(pipe);
  }
  return found->second;
}

void Programs::make_room(Stream& stream, std::size_t peers) {
  if (peers <= stream.room) return;
  // What it had is lost; the number of peers rarely grows.
  stream.first_peer = static_cast<std::uint32_t>(peers_.size());
  stream.room = static_cast<std::uint32_t>(peers);
  peers_.resize(peers_.size() + peers);
}

void Programs::add_peer(StreamId id, std::size_t i, Port peer, Port self) {
  if (!exists(peer)) {
    error_ = Error{{},
                   fmt::format("{} names {}, which does not exist", port_text(schedule_, self),
                               port_text(schedule_, peer)),
                   fmt::format("an agent below {} and a stream below {}", schedule_.agents(),
                               schedule_.streams()),
                   ""};
    return;
  }
  Stream& stream = streams_[id];
  const auto other =
      static_cast<StreamId>(peer.agent) * static_cast<StreamId>(schedule_.streams()) +
      static_cast<StreamId>(peer.stream);
  const bool receive = i < stream.receives;
  const PipeKey key = receive ? pipe_key(other, number(id)) : pipe_key(number(id), other);
  Peer& known = peers_[stream.first_peer + i];
  // Most actions have the peers of the one before.
  if (known.key != key) known = {key, find_pipe(key)};
  if (error_) return;
  Pipe& pipe = pipes_[known.pipe];
  bool& waits = receive ? pipe.receiver_waits : pipe.sender_waits;
  if (waits)
    error_ = Error{{},
                   fmt::format("{} names {} twice in action {}", port_text(schedule_, self),
                               port_text(schedule_, peer), stream.at),
                   "each peer once an action",
                   ""};
  waits = receive ? pipe.arrived == 0 : pipe.unconsumed >= pipe.connection.credits;
  if (waits) ++stream.missing;
}

bool Programs::next(StreamId id) {
  Stream& stream = streams_[id];
  if (++stream.at >= stream.count) {
    stream.peers = stream.receives = 0;
    --left_;
    return true;
  }
  const Port self = port(id);
  schedule_.action(self, stream.at, action_);
  stream.bytes = action_.bytes;
  stream.serves_itself = serves_itself(action_);
  stream.receives = static_cast<std::uint32_t>(action_.recv.size());
  stream.peers = static_cast<std::uint32_t>(action_.recv.size() + action_.send.size());
  stream.missing = 0;
  make_room(stream, stream.peers);
  std::size_t i = 0;
  for (const Port peer : action_.recv) add_peer(id, i++, peer, self);
  for (const Port peer : action_.send) add_peer(id, i++, peer, self);
  if (stream.missing == 0) ready_.push_back(id);
  return !error_;
}

void Programs::begin(StreamId id) {
  const Stream& stream = streams_[id];
  for (std::uint32_t i = 0; i < stream.peers; ++i) {
    Pipe& pipe = pipes_[peers_[stream.first_peer + i].pipe];
    if (i < stream.receives) --pipe.arrived;
    else ++pipe.unconsumed;
  }
}

void Programs::fulfil(StreamId id) {
  if (--streams_[id].missing == 0) ready_.push_back(id);
}

void Programs::arrive(PipeId id) {
  Pipe& pipe = pipes_[id];
  ++pipe.arrived;
  if (!pipe.receiver_waits) return;
  pipe.receiver_waits = false;
  fulfil(pipe.to);
}

void Programs::credit(PipeId id) {
  Pipe& pipe = pipes_[id];
  --pipe.unconsumed;
  if (!pipe.sender_waits) return;
  pipe.sender_waits = false;
  fulfil(pipe.from);
}

bool Programs::end(StreamId id) {
  const Stream& stream = streams_[id];
  for (std::uint32_t i = 0; i < stream.receives; ++i) {
    const PipeId pipe = peers_[stream.first_peer + i].pipe;
    if (credits_ == Credits::told) consumed_.push_back(pipe);
    else credit(pipe);
  }
  return next(id);
}

void Programs::append_state(std::vector<std::uint64_t>& words) const {
  for (const Stream& stream : streams_)
    words.push_back(std::uint64_t{stream.missing} << 32 | stream.flowing);
  for (const Pipe& pipe : pipes_) {
    words.push_back(std::uint64_t{static_cast<std::uint32_t>(pipe.arrived)} << 32 |
                    static_cast<std::uint32_t>(pipe.unconsumed));
    words.push_back((pipe.receiver_waits ? 1u : 0u) | (pipe.sender_waits ? 2u : 0u));
  }
}

Error Programs::stuck() const {
  constexpr int kNamed = 4;
  std::string waiting;
  int named = 0;
  for (StreamId s = 0; s < streams_.size() && named < kNamed; ++s) {
    const Stream& stream = streams_[s];
    if (stream.at >= stream.count) continue;
    for (std::uint32_t i = 0; i < stream.peers; ++i) {
      const Pipe& pipe = pipes_[peers_[stream.first_peer + i].pipe];
      const bool receive = i < stream.receives;
      if (!(receive ? pipe.receiver_waits : pipe.sender_waits)) continue;
      waiting += fmt::format("{}{} at action {} of {} for a {} {}", waiting.empty() ? "" : "; ",
                             port_text(schedule_, port(s)), stream.at, stream.count,
                             receive ? "message from" : "credit of",
                             port_text(schedule_, port(receive ? pipe.from : pipe.to)));
      ++named;
      break;
    }
  }
  return Error{{},
               fmt::format("the schedule waits for ever in {} streams: {}", left_, waiting),
               "every message that is waited for is sent, and in the order of the receiver",
               ""};
}

}  // namespace isleway
