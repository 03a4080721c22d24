// How a chosen algorithm is run: channels, threads, and how the bytes are cut.
#pragma once

#include "nccl/tuner.hpp"

namespace isleway::nccl {

struct LaunchPlan {
  int max_channels = 1;          ///< that the size deserves
  int channels = 1;              ///< that get work once it is dealt out in cells
  int threads = 512;             ///< of one channel's block
  std::int64_t chunk_bytes = 0;  ///< data of one step of the algorithm
  std::int64_t slice_bytes = 0;  ///< data of one message
  std::int64_t cell_bytes = 16;  ///< work is dealt out in multiples of this
};

LaunchPlan plan_launch(const TunerInput& input, const Settings& settings, Collective collective,
                       Algorithm algorithm, Protocol protocol, std::int64_t bytes);

/// One of the eight slots of a connection's buffer, in bytes of data.
std::int64_t slot_bytes(const TunerInput& input, const Settings& settings, Protocol protocol);
/// Slots that one message of an algorithm takes; the FIFO has eight.
int slots_per_message(Collective collective, Algorithm algorithm, Protocol protocol);
inline constexpr int kSlots = 8;

/// How the data flow. LL and LL128 carry a flag in every line, so that what has come of a chunk
/// is passed on, warp by warp, while the rest is still under way; what counts in a chain or a
/// tree is not the chunk but what a few warps move. Elsewhere as decided.
Chunking wire_chunking(const CollectiveCall& call, const Decision& decision);

}  // namespace isleway::nccl
