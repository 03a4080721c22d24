// Parallel aggregated trees: every rank's block has a binomial tree of its own, the same for
// all but turned by the rank's number, and all trees run at once.
//
// all_gather: the block of rank q reaches rank q + x from rank q + x - (lowest bit of x). A
// rank handles the blocks in order of x, so it waits for at most one message from each peer,
// the latency is that of log2(ranks) hops, and every rank handles every block. reduce_scatter
// runs the same backwards, adding on the way.
#include <bit>

#include "collective/arguments.hpp"
#include "collective/pipeline.hpp"

namespace isleway {
namespace {

class Pat final : public Schedule {
 public:
  Pat(const CollectiveCall& call, int channels, const Chunking& chunking)
      : ranks_(call.ranks),
        reduces_(call.collective == Collective::reduce_scatter),
        block_(std::min(call.size.input_bytes(call.collective, ranks_),
                        call.size.output_bytes(call.collective, ranks_))),
        channels_(cut_channels(block_, channels, 1, chunking)) {}

  int ranks() const override { return ranks_; }
  int streams() const override { return static_cast<int>(channels_.size()); }

  std::int64_t action_count(Port port) const override {
    return channels_[port.stream].loops.slices_in_all() * ranks_;
  }

  void action(Port port, std::int64_t k, Action& out) const override {
    out.clear();
    const auto& [offset, loops] = channels_[port.stream];
    const auto [loop, slice] = loops.locate(k / ranks_, 1);
    const Piece piece = loops.piece(loop, 0, slice);
    const int turn = static_cast<int>(k % ranks_);
    const int x = reduces_ ? ranks_ - 1 - turn : turn;
    const std::int64_t at = offset + piece.offset;
    const std::int64_t block_at = at + rank_at(port.agent, -x) * block_;
    out.bytes = piece.bytes;

    SmallVector<Port, 4>& to_leaves = reduces_ ? out.recv : out.send;
    SmallVector<Port, 4>& to_root = reduces_ ? out.send : out.recv;
    for (int d = 1; (x == 0 || d < lowest_bit(x)) && x + d < ranks_; d *= 2)
      to_leaves.push_back({rank_at(port.agent, d), port.stream});
    if (x > 0) to_root.push_back({rank_at(port.agent, -lowest_bit(x)), port.stream});

    if (reduces_) {
      out.source = {Region::Buffer::input, block_at};
      if (x == 0) out.store = {Region::Buffer::output, at};
    } else {
      if (x == 0) out.source = {Region::Buffer::input, at};
      out.store = {Region::Buffer::output, block_at};
    }
  }

  void loads(const std::function<void(const Load&)>& visit) const override {
    for (std::int32_t c = 0; c < streams(); ++c) {
      const Loops& loops = channels_[c].loops;
      if (loops.share() == 0) continue;
      for (int rank = 0; rank < ranks_; ++rank) {
        const Port self{rank, c};
        visit({self, self, loops.share(), loops.slices_in_all(), reduces_ && ranks_ > 1});
        for (int d = 1; d < ranks_; d *= 2) {
          const std::int64_t blocks = (ranks_ - 1 - d) / (2 * std::int64_t{d}) + 1;
          const int peer = rank_at(rank, reduces_ ? -d : d);
          visit({self, {peer, c}, blocks * loops.share(), blocks * loops.slices_in_all()});
        }
      }
    }
  }

  std::vector<CriticalStep> critical_path() const override {
    // The longest way down a tree has the most bits set: all, or all but one of the highest.
    int farthest = ranks_ - 1;
    const int all_below = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks_))) - 1;
    if (std::popcount(static_cast<unsigned>(farthest)) <
        std::popcount(static_cast<unsigned>(all_below)))
      farthest = all_below;
    std::vector<Leg> legs;
    for (int x = farthest; x > 0; x -= lowest_bit(x)) {
      const Port below{x, 0}, above{x - lowest_bit(x), 0};
      if (reduces_) legs.push_back({below, above});
      else legs.insert(legs.begin(), {above, below});
    }
    return pipeline_path(legs, legs.size() - 1, channels_[0].loops);
  }

 private:
  static int lowest_bit(int x) { return x & -x; }
  int rank_at(int rank, int distance) const { return (rank + distance + ranks_) % ranks_; }

  int ranks_;
  bool reduces_;
  std::int64_t block_;  ///< of one rank, in the larger buffer
  std::vector<Channel> channels_;
};

}  // namespace

Result<std::unique_ptr<Schedule>> make_pat(const CollectiveCall& call, int channels,
                                           const Chunking& chunking) {
  if (auto ok = check_arguments(call, channels, chunking, "PAT",
                                {Collective::all_gather, Collective::reduce_scatter});
      !ok)
    return tl::unexpected(ok.error());
  return std::make_unique<Pat>(call, channels, chunking);
}

}  // namespace isleway
