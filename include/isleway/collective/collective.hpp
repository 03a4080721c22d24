// Collectives and the algorithms that do them, as schedules.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isleway/core/error.hpp"
#include "isleway/engine/schedule.hpp"

namespace isleway {

enum class Collective : std::uint8_t {
  all_reduce, all_gather, reduce_scatter, broadcast, reduce,
  all_to_all, gather, scatter, sendrecv
};
inline constexpr int kCollectiveCount = 9;

/// "all_reduce", ... as this program names them; nccl-tests' "alltoall" is understood too.
const char* name_of(Collective collective);
Result<Collective> parse_collective(std::string_view text);

/// What nccl-tests means by size: the larger of what one rank sends and receives in all.
/// Everything else (elements per rank, buffers) follows from it.
struct CallSize {
  std::int64_t bytes = 0;       ///< nccl-tests' "size" column
  int element_bytes = 4;

  /// Bytes of one rank's input and output buffer for `ranks`, after nccl-tests rounded the
  /// size down to whole elements for every rank.
  std::int64_t input_bytes(Collective collective, int ranks) const;
  std::int64_t output_bytes(Collective collective, int ranks) const;
};

/// busbw = algbw x this, as nccl-tests defines it (doc/PERFORMANCE.md).
double bus_factor(Collective collective, int ranks);

/// How the bytes of a channel are cut for the wire.
struct Chunking {
  std::int64_t chunk_bytes = 2 << 20;   ///< one step of the algorithm
  std::int64_t slice_bytes = 1 << 20;   ///< one message; a chunk is one or more
};

/// One tree: parent of each rank (-1 at the root).
struct TreeShape {
  std::vector<int> parent;
};

struct CollectiveCall {
  Collective collective = Collective::all_reduce;
  CallSize size;
  int ranks = 0;
  int root = 0;
};

/// Ring: `rings[c][i]` is the rank at position i of channel c's ring. All but all_to_all,
/// gather, scatter, sendrecv.
Result<std::unique_ptr<Schedule>> make_ring(const CollectiveCall& call,
                                            std::vector<std::vector<int>> rings,
                                            const Chunking& chunking);

/// Rings over consecutive rank numbers, one vector shared by all channels: O(1) memory.
Result<std::unique_ptr<Schedule>> make_simple_ring(const CollectiveCall& call, int channels,
                                                   const Chunking& chunking);

/// Trees, one per channel (a double binary tree is two shapes that alternate). all_reduce
/// runs both ways at once; broadcast goes down from, reduce goes up to the root.
Result<std::unique_ptr<Schedule>> make_tree(const CollectiveCall& call,
                                            std::vector<TreeShape> trees,
                                            const Chunking& chunking);

/// The two complementary binary trees over n nodes (facts: NCCL's construction).
TreeShape binary_tree(int nodes);
TreeShape mirrored_binary_tree(int nodes);

/// In-switch reduction and multicast. `heads[c]` owns a share of the data; the agent of
/// head h is ranks + h. all_reduce, all_gather, reduce_scatter.
/// `islands` groups the ranks that share switches; with more than one, heads of equal
/// index are joined by double trees over the network (NVLS tree; all_reduce only).
Result<std::unique_ptr<Schedule>> make_nvls(const CollectiveCall& call, int channels,
                                            std::vector<std::vector<int>> islands,
                                            int heads_per_island, const Chunking& chunking);

/// Grouped send/recv: all_to_all, gather, scatter, sendrecv (to the next rank), in rounds
/// in which each rank sends to one peer and receives from one.
Result<std::unique_ptr<Schedule>> make_point_to_point(const CollectiveCall& call, int channels,
                                                      int ranks_per_node,
                                                      const Chunking& chunking);

/// One rank writes `bytes` to another: what a plain peer copy is.
std::unique_ptr<Schedule> make_copy(int ranks, std::vector<std::pair<int, int>> pairs,
                                    std::int64_t bytes, std::int64_t message_bytes);

}  // namespace isleway
