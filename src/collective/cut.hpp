// How a call's bytes are cut: over channels, into loops of chunks, into slices.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "isleway/collective/collective.hpp"

namespace isleway {

struct Piece {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// A share, cut into loops of `parts` equal chunks, each chunk into slices. All loops but the
/// last have full chunks; the last has smaller ones, rounded up to 16 bytes, so its last
/// chunks may be short or empty. Slices are numbered alike in every chunk of a loop. A share
/// of no bytes has no loops.
class Loops {
 public:
  Loops(std::int64_t share, std::int64_t parts, const Chunking& chunking);

  /// Loops that are cut alike: all but the last, and the last if it is smaller.
  struct Group {
    std::int64_t loops = 0, chunk = 0, slice = 0, slices = 0;
  };
  std::array<Group, 2> groups() const { return {full_, last_}; }

  std::int64_t share() const { return share_; }
  std::int64_t loops() const { return full_.loops + last_.loops; }
  std::int64_t slices(std::int64_t loop) const { return group(loop).slices; }
  /// Slice of part `part` in a loop, as an offset in the share.
  Piece piece(std::int64_t loop, std::int64_t part, std::int64_t slice) const;

  /// Sums over all loops: slices of a part, and the bytes of a part.
  std::int64_t slices_in_all() const {
    return full_.loops * full_.slices + last_.loops * last_.slices;
  }
  std::int64_t part_bytes(std::int64_t part) const;

  /// Where item `k` lies when a loop has `per_slice` items for each slice of a part.
  struct Position {
    std::int64_t loop;
    std::int64_t item;  ///< counted inside the loop
  };
  Position locate(std::int64_t k, std::int64_t per_slice) const;

 private:
  const Group& group(std::int64_t loop) const { return loop < full_.loops ? full_ : last_; }

  std::int64_t share_, parts_;
  Group full_, last_;
};

/// What one channel moves of a call, and how.
struct Channel {
  std::int64_t offset;  ///< of its share
  Loops loops;
};

/// `total` bytes in near-equal shares for `channels` channels; the last may have less or none.
std::vector<Channel> cut_channels(std::int64_t total, int channels, std::int64_t parts,
                                  const Chunking& chunking);

}  // namespace isleway
