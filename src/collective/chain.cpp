#include "collective/pipeline.hpp"
#include "collective/ring.hpp"

namespace isleway {
namespace {

class Chain final : public Schedule {
 public:
  Chain(const CollectiveCall& call, RingOrder order, const Chunking& chunking)
      : order_(std::move(order)),
        root_(call.root),
        reduce_(call.collective == Collective::reduce),
        channels_(cut_channels(call.size.input_bytes(call.collective, call.ranks),
                               order_.channels(), 1, chunking)) {}

  int ranks() const override { return order_.ranks(); }
  int streams() const override { return order_.channels(); }

  std::int64_t action_count(Port port) const override {
    return channels_[port.stream].loops.slices_in_all();
  }

  void action(Port port, std::int64_t k, Action& out) const override {
    out.clear();
    const int c = port.stream;
    const auto& [offset, loops] = channels_[c];
    const auto [loop, slice] = loops.locate(k, 1);
    const Piece piece = loops.piece(loop, 0, slice);
    const int position = order_.position(c, port.agent);
    const int first = first_position(c);
    const bool is_first = position == first;
    const bool is_last = position == (first + ranks() - 1) % ranks();
    out.bytes = piece.bytes;
    if (is_first || reduce_) out.source = {Region::Buffer::input, offset + piece.offset};
    if (is_last || !reduce_) out.store = {Region::Buffer::output, offset + piece.offset};
    if (!is_first) out.recv.push_back({order_.at(c, position - 1), c});
    if (!is_last) out.send.push_back({order_.at(c, position + 1), c});
  }

  void loads(const std::function<void(const Load&)>& visit) const override {
    for (int c = 0; c < streams(); ++c) {
      const Loops& loops = channels_[c].loops;
      if (loops.share() == 0) continue;
      const Port root{root_, c};
      visit({root, root, loops.share(), loops.slices_in_all(), reduce_ && ranks() > 1});
      for (const Leg& leg : legs(c))
        visit({leg.from, leg.to, loops.share(), loops.slices_in_all()});
    }
  }

  std::vector<CriticalStep> critical_path() const override {
    const std::vector<Leg> all = legs(0);
    return pipeline_path(all, all.size() - 1, channels_[0].loops);
  }

 private:
  /// The root begins a broadcast and ends a reduction.
  int first_position(int channel) const {
    const int root = order_.position(channel, root_);
    return reduce_ ? (root + 1) % ranks() : root;
  }

  std::vector<Leg> legs(int c) const {
    std::vector<Leg> legs;
    const int first = first_position(c);
    for (int i = first; i < first + ranks() - 1; ++i)
      legs.push_back({{order_.at(c, i), c}, {order_.at(c, i + 1), c}});
    return legs;
  }

  RingOrder order_;
  int root_;
  bool reduce_;
  std::vector<Channel> channels_;
};

}  // namespace

std::unique_ptr<Schedule> make_chain(const CollectiveCall& call, RingOrder order,
                                     const Chunking& chunking) {
  return std::make_unique<Chain>(call, std::move(order), chunking);
}

}  // namespace isleway
