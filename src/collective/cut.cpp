#include "collective/cut.hpp"

#include <algorithm>

namespace isleway {
namespace {

constexpr std::int64_t kGrain = 16;  // of every copy loop on the GPU; keeps elements whole

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }
constexpr std::int64_t round_up(std::int64_t a, std::int64_t unit) {
  return ceil_div(a, unit) * unit;
}

Loops::Group group_of(std::int64_t loops, std::int64_t chunk, const Chunking& chunking) {
  // NCCL's rule (src/device/prims_simple.h): equal slices, but none below 1/32 of a full one.
  const std::int64_t nominal = ceil_div(chunking.chunk_bytes, chunking.slice_bytes);
  const std::int64_t least = std::max(kGrain, chunking.slice_bytes / 32 / kGrain * kGrain);
  const std::int64_t slice =
      std::min(chunk, std::max(round_up(ceil_div(chunk, nominal), kGrain), least));
  return {loops, chunk, slice, ceil_div(chunk, slice)};
}

}  // namespace

Loops::Loops(std::int64_t share, std::int64_t parts, const Chunking& chunking)
    : share_(share), parts_(parts) {
  // Chunks per part first: parts x chunk may not fit for 100,000 ranks and huge chunks.
  const std::int64_t full = share / chunking.chunk_bytes / parts;
  full_ = group_of(full, chunking.chunk_bytes, chunking);
  const std::int64_t rest = share - full * parts * chunking.chunk_bytes;
  if (rest > 0) last_ = group_of(1, round_up(ceil_div(rest, parts), kGrain), chunking);
}

Piece Loops::piece(std::int64_t loop, std::int64_t part, std::int64_t slice) const {
  const Group& g = group(loop);
  const std::int64_t loop_begin = std::min(loop, full_.loops) * parts_ * full_.chunk;
  const std::int64_t chunk_end = std::min(share_, loop_begin + (part + 1) * g.chunk);
  const std::int64_t begin = std::min(chunk_end, loop_begin + part * g.chunk + slice * g.slice);
  return {begin, std::min(g.slice, chunk_end - begin)};
}

std::int64_t Loops::part_bytes(std::int64_t part) const {
  const std::int64_t rest = share_ - full_.loops * parts_ * full_.chunk;
  return full_.loops * full_.chunk +
         std::clamp<std::int64_t>(rest - part * last_.chunk, 0, last_.chunk);
}

Loops::Position Loops::locate(std::int64_t k, std::int64_t per_slice) const {
  const std::int64_t per_loop = full_.slices * per_slice;
  const std::int64_t loop = std::min(k / per_loop, full_.loops);
  return {loop, k - loop * per_loop};
}

std::vector<Channel> cut_channels(std::int64_t total, int channels, std::int64_t parts,
                                  const Chunking& chunking) {
  const std::int64_t share = round_up(ceil_div(total, channels), chunking.share_unit_bytes);
  std::vector<Channel> cut;
  cut.reserve(channels);
  for (int c = 0; c < channels; ++c) {
    const std::int64_t begin = std::min(total, share * c);
    cut.push_back({begin, Loops(std::min(share, total - begin), parts, chunking)});
  }
  return cut;
}

}  // namespace isleway
