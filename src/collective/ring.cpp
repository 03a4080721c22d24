#include "collective/ring.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collective/arguments.hpp"

namespace isleway {
namespace {

/// In step s, each rank handles the chunk `shift + s` positions behind its own: it receives
/// it (but in the first step), adds its own input up to step `last_source`, keeps the result
/// from step `first_store` on, and passes it on (but in the last step).
struct Rule {
  int shift, steps, last_source, first_store;
};

Rule rule_of(Collective collective, int ranks) {
  switch (collective) {
    case Collective::all_gather: return {0, ranks, 0, 0};
    case Collective::reduce_scatter: return {1, ranks, ranks - 1, ranks - 1};
    default: return {1, 2 * ranks - 1, ranks - 1, ranks - 1};  // one after the other
  }
}

class LockstepRing final : public Schedule {
 public:
  LockstepRing(const CollectiveCall& call, RingOrder order, const Chunking& chunking)
      : order_(std::move(order)),
        rule_(rule_of(call.collective, call.ranks)),
        one_buffer_(call.collective == Collective::all_reduce) {
    const std::int64_t input = call.size.input_bytes(call.collective, call.ranks);
    const std::int64_t output = call.size.output_bytes(call.collective, call.ranks);
    if (call.collective == Collective::reduce_scatter) source_block_ = output;
    if (call.collective == Collective::all_gather) store_block_ = input;
    channels_ = cut_channels(std::min(input, output), order_.channels(),
                             one_buffer_ ? call.ranks : 1, chunking);
  }

  int ranks() const override { return order_.ranks(); }
  int streams() const override { return order_.channels(); }

  std::int64_t action_count(Port port) const override {
    return channels_[port.stream].loops.slices_in_all() * rule_.steps;
  }

  void action(Port port, std::int64_t k, Action& out) const override {
    out.clear();
    const int c = port.stream;
    const auto& [offset, loops] = channels_[c];
    const auto [loop, item] = loops.locate(k, rule_.steps);
    const std::int64_t slices = loops.slices(loop);
    const int step = static_cast<int>(item / slices);
    const int position = order_.position(c, port.agent);
    const int chunk = wrap(position - rule_.shift - step);

    const Piece piece = loops.piece(loop, one_buffer_ ? chunk : 0, item % slices);
    const std::int64_t at = offset + piece.offset;
    const int owner = order_.at(c, chunk);
    out.bytes = piece.bytes;
    if (step <= rule_.last_source) out.source = {Region::Buffer::input, at + owner * source_block_};
    if (step >= rule_.first_store) out.store = {Region::Buffer::output, at + owner * store_block_};
    if (step > 0) out.recv.push_back({order_.at(c, position - 1), c});
    if (step + 1 < rule_.steps) out.send.push_back({order_.at(c, position + 1), c});
  }

  void loads(const std::function<void(const Load&)>& visit) const override {
    for (int c = 0; c < streams(); ++c) {
      const Loops& loops = channels_[c].loops;
      if (loops.share() == 0) continue;
      const bool passes_result_on = one_buffer_ && ranks() > 1;
      for (int i = 0; i < ranks(); ++i) {
        const Port self{order_.at(c, i), c};
        if (!passes_result_on)
          visit({self, self, loops.share(), loops.slices_in_all(), rule_.first_store > 0});
        if (ranks() == 1) continue;
        // Reducing one buffer takes two rounds, less the two chunks that end at the next rank.
        const std::int64_t bytes =
            one_buffer_ ? 2 * loops.share() - loops.part_bytes(i) - loops.part_bytes(wrap(i + 1))
                        : loops.share() * (ranks() - 1);
        visit({self, {order_.at(c, i + 1), c}, bytes, loops.slices_in_all() * (rule_.steps - 1)});
      }
    }
  }

  /// A channel's ranks all do the same where no chunk of the last loop is short.
  std::uint64_t role(Port port) const override {
    const Loops& loops = channels_[port.stream].loops;
    const bool even = !one_buffer_ || loops.part_bytes(0) == loops.part_bytes(ranks() - 1);
    return even ? static_cast<std::uint64_t>(loops.share()) : Schedule::role(port);
  }
  void peers(Port port, Peers& out) const override {
    out.clear();
    if (ranks() == 1 || action_count(port) == 0) return;
    const int position = order_.position(port.stream, port.agent);
    out.receives.push_back({order_.at(port.stream, position - 1), port.stream});
    out.sends.push_back({order_.at(port.stream, position + 1), port.stream});
  }
  Loop loop(Port port) const override {
    const Loops::Group full = channels_[port.stream].loops.groups()[0];
    return {0, full.slices * rule_.steps, full.loops};
  }

  /// Every step waits for the message of the one before, so in a loop a message goes round
  /// the ring once (twice for all_reduce), less the first step. Channel 0 has the most to do.
  std::vector<CriticalStep> critical_path() const override {
    std::vector<CriticalStep> path;
    const Loops& loops = channels_[0].loops;
    if (ranks() == 1) return path;
    for (const Loops::Group& group : loops.groups()) {
      if (group.loops == 0) continue;
      const double repeats = static_cast<double>(group.loops) * (rule_.steps - 1) / ranks();
      for (int i = 0; i < ranks(); ++i) {
        const Port from{order_.at(0, i), 0}, to{order_.at(0, i + 1), 0};
        path.push_back({from, to, 0, repeats, group.chunk - group.slice, group.slices - 1});
        if (group.slices > 1)
          path.push_back({from, to, 0, repeats * static_cast<double>(group.slices - 1),
                          CriticalStep::kAllHidden});
      }
    }
    return path;
  }

 private:
  int wrap(int position) const { return (position % ranks() + ranks()) % ranks(); }

  RingOrder order_;
  Rule rule_;
  /// all_reduce: the chunks are parts of a loop. Otherwise the larger buffer has a block for
  /// each rank, as long as the smaller buffer, and a chunk is the same part of each block.
  bool one_buffer_;
  std::int64_t source_block_ = 0, store_block_ = 0;  ///< 0 where the buffer is one block
  std::vector<Channel> channels_;
};

Result<std::unique_ptr<Schedule>> make(const CollectiveCall& call, RingOrder order,
                                       const Chunking& chunking) {
  if (call.collective == Collective::broadcast || call.collective == Collective::reduce)
    return make_chain(call, std::move(order), chunking);
  return make_lockstep_ring(call, std::move(order), chunking);
}

Result<void> check(const CollectiveCall& call, int channels, const Chunking& chunking) {
  return check_arguments(call, channels, chunking, "ring",
                         {Collective::all_reduce, Collective::all_gather,
                          Collective::reduce_scatter, Collective::broadcast, Collective::reduce});
}

}  // namespace

std::unique_ptr<Schedule> make_lockstep_ring(const CollectiveCall& call, RingOrder order,
                                             const Chunking& chunking) {
  return std::make_unique<LockstepRing>(call, std::move(order), chunking);
}

Result<std::unique_ptr<Schedule>> make_ring(const CollectiveCall& call,
                                            std::vector<std::vector<int>> rings,
                                            const Chunking& chunking) {
  const int channels = static_cast<int>(rings.size());
  if (auto ok = check(call, channels, chunking); !ok) return tl::unexpected(ok.error());
  for (int c = 0; c < channels; ++c)
    if (auto ok = check_every_rank_once(rings[c], call.ranks, fmt::format("ring {}", c)); !ok)
      return tl::unexpected(ok.error());
  return make(call, RingOrder(call.ranks, std::move(rings)), chunking);
}

Result<std::unique_ptr<Schedule>> make_simple_ring(const CollectiveCall& call, int channels,
                                                   const Chunking& chunking) {
  if (auto ok = check(call, channels, chunking); !ok) return tl::unexpected(ok.error());
  return make(call, RingOrder(call.ranks, channels), chunking);
}

}  // namespace isleway
