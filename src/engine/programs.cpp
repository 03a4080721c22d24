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
  return {static_cast<std::int32_t>(stream / streams), static_cast<std::int32_t>(stream % streams)};
}

Result<StreamId> Programs::stream_of(Port port, Port named_by) const {
  if (port.agent < 0 || port.agent >= schedule_.agents() || port.stream < 0 ||
      port.stream >= schedule_.streams())
    return fail(fmt::format("{} names {}, which does not exist", port_text(schedule_, named_by),
                            port_text(schedule_, port)),
                fmt::format("an agent below {} and a stream below {}", schedule_.agents(),
                            schedule_.streams()));
  return static_cast<StreamId>(port.agent) * static_cast<StreamId>(schedule_.streams()) +
         static_cast<StreamId>(port.stream);
}

Result<void> Programs::load_all() {
  const std::int64_t all = std::int64_t{schedule_.agents()} * schedule_.streams();
  if (all > kMostStreams)
    return fail(fmt::format("{} streams are too many to simulate one by one", all),
                fmt::format("at most {}", kMostStreams), "use the analytic engine");
  streams_.resize(static_cast<std::size_t>(all));
  left_ = streams_.size();
  for (StreamId s = 0; s < streams_.size(); ++s) {
    streams_[s].count = schedule_.action_count(port(s));
    if (auto loaded = next(s); !loaded) return loaded;
  }
  return {};
}

Result<PipeId> Programs::pipe_between(StreamId from, StreamId to) {
  const auto [found, is_new] =
      pipe_of_.try_emplace(std::uint64_t{from} << 32 | to, static_cast<PipeId>(pipes_.size()));
  if (is_new) {
    auto connection = checked_connection(schedule_, wiring_, port(from), port(to));
    if (!connection) return tl::unexpected(connection.error());
    Pipe pipe;
    pipe.from = from;
    pipe.to = to;
    pipe.connection = *connection;
    pipes_.push_back(pipe);
  }
  return found->second;
}

Result<void> Programs::next(StreamId id) {
  Stream& stream = streams_[id];
  if (++stream.at >= stream.count) {
    stream.pipes.clear();
    stream.receives = 0;
    --left_;
    return {};
  }
  const Port self = port(id);
  schedule_.action(self, stream.at, action_);
  stream.bytes = action_.bytes;
  stream.serves_itself = serves_itself(action_);
  stream.receives = static_cast<std::uint32_t>(action_.recv.size());
  stream.missing = 0;
  stream.pipes.resize(action_.recv.size() + action_.send.size());

  for (std::size_t i = 0; i < stream.pipes.size(); ++i) {
    const bool receive = i < stream.receives;
    const auto peer =
        stream_of(receive ? action_.recv[i] : action_.send[i - stream.receives], self);
    if (!peer) return tl::unexpected(peer.error());
    const StreamId from = receive ? *peer : id, to = receive ? id : *peer;
    // Most actions have the peers of the one before.
    PipeId pipe_id = stream.pipes[i];
    if (stream.at == 0 || pipe_id >= pipes_.size() || pipes_[pipe_id].from != from ||
        pipes_[pipe_id].to != to) {
      const auto found = pipe_between(from, to);
      if (!found) return tl::unexpected(found.error());
      pipe_id = stream.pipes[i] = *found;
    }
    Pipe& pipe = pipes_[pipe_id];
    bool& waits = receive ? pipe.receiver_waits : pipe.sender_waits;
    if (waits)
      return fail(fmt::format("{} names {} twice in action {}", port_text(schedule_, self),
                              port_text(schedule_, port(*peer)), stream.at),
                  "each peer once an action");
    waits = receive ? pipe.arrived == 0 : pipe.unconsumed >= pipe.connection.credits;
    if (waits) ++stream.missing;
  }
  if (stream.missing == 0) ready_.push_back(id);
  return {};
}

void Programs::begin(StreamId id) {
  const Stream& stream = streams_[id];
  for (std::uint32_t i = 0; i < stream.pipes.size(); ++i) {
    Pipe& pipe = pipes_[stream.pipes[i]];
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

Result<void> Programs::end(StreamId id) {
  const Stream& stream = streams_[id];
  for (std::uint32_t i = 0; i < stream.receives; ++i) {
    Pipe& pipe = pipes_[stream.pipes[i]];
    --pipe.unconsumed;
    if (!pipe.sender_waits) continue;
    pipe.sender_waits = false;
    fulfil(pipe.from);
  }
  return next(id);
}

Error Programs::stuck() const {
  constexpr int kNamed = 4;
  std::string waiting;
  int named = 0;
  for (StreamId s = 0; s < streams_.size() && named < kNamed; ++s) {
    const Stream& stream = streams_[s];
    if (stream.at >= stream.count) continue;
    for (std::uint32_t i = 0; i < stream.pipes.size(); ++i) {
      const Pipe& pipe = pipes_[stream.pipes[i]];
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
