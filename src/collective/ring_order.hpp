// Who sits where on the ring of each channel.
#pragma once

#include <vector>

namespace isleway {

/// Either one order for each channel, or the ranks by number on all, which takes no memory.
class RingOrder {
 public:
  RingOrder(int ranks, int channels) : ranks_(ranks), channels_(channels) {}
  RingOrder(int ranks, std::vector<std::vector<int>> rings)
      : ranks_(ranks), channels_(static_cast<int>(rings.size())), at_(std::move(rings)) {
    for (const auto& ring : at_) {
      std::vector<int>& positions = position_.emplace_back(ranks);
      for (int i = 0; i < ranks; ++i) positions[ring[i]] = i;
    }
  }

  int ranks() const { return ranks_; }
  int channels() const { return channels_; }
  int position(int channel, int rank) const {
    return position_.empty() ? rank : position_[channel][rank];
  }
  /// Rank at a position from -ranks to 2 x ranks - 1, as counted around the ring.
  int at(int channel, int position) const {
    if (position < 0) position += ranks_;
    if (position >= ranks_) position -= ranks_;
    return at_.empty() ? position : at_[channel][position];
  }

 private:
  int ranks_, channels_;
  std::vector<std::vector<int>> at_, position_;
};

}  // namespace isleway
