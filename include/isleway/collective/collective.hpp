// Collectives and the algorithms that do them, as schedules.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isleway/core/error.hpp"
#include "isleway/engine/schedule.hpp"

namespace isleway {

enum class Collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  gather,
  scatter,
  sendrecv
};
inline constexpr int kCollectiveCount = 9;

/// "all_reduce", ... as this program names them; nccl-tests' "alltoall" is understood too.
const char* name_of(Collective collective);
Result<Collective> parse_collective(std::string_view text);

/// What nccl-tests means by size: the larger of what one rank sends and receives in all.
/// Everything else (elements per rank, buffers) follows from it.
struct CallSize {
  std::int64_t bytes = 0;  ///< nccl-tests' "size" column
  int element_bytes = 4;

  /// Bytes of one rank's input and output buffer for `ranks`, after nccl-tests rounded the
  /// size down to whole elements for every rank.
  std::int64_t input_bytes(Collective collective, int ranks) const;
  std::int64_t output_bytes(Collective collective, int ranks) const;
};

/// busbw = algbw x this, as nccl-tests defines it (doc/PERFORMANCE.md).
double bus_factor(Collective collective, int ranks);

/// How the bytes of a call are cut for the wire. A channel's share is a multiple of
/// `share_unit_bytes` (the last channels take what is left); inside it an algorithm works in
/// loops of chunks, the last loop's being smaller so that its chunks stay equal.
struct Chunking {
  std::int64_t chunk_bytes = 2 << 20;  ///< one step of the algorithm; a multiple of 16
  std::int64_t slice_bytes = 1 << 20;  ///< one message; a chunk is one or more
  std::int64_t share_unit_bytes = 16;  ///< a multiple of 16
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
  bool in_place = false;  ///< what a rank keeps for itself is where it belongs already
};

// The makers below fail, saying what is wrong, on a collective that the algorithm does not do,
// on a root that is no rank, and on orders or trees that do not hold every rank once.

/// Ring: `rings[c][i]` is the rank at position i of channel c's ring. All but all_to_all,
/// gather, scatter, sendrecv. Broadcast and reduce are chains along the ring from (to) the
/// root. One channel's FIFOs must hold more messages than a chunk has slices.
Result<std::unique_ptr<Schedule>> make_ring(const CollectiveCall& call,
                                            std::vector<std::vector<int>> rings,
                                            const Chunking& chunking);

/// Rings over consecutive rank numbers, for all channels: O(1) memory.
Result<std::unique_ptr<Schedule>> make_simple_ring(const CollectiveCall& call, int channels,
                                                   const Chunking& chunking);

/// Trees, one per channel (a double binary tree is two shapes that alternate). all_reduce
/// runs both ways at once; broadcast goes down from, reduce goes up to the root, for which
/// a tree with another root is turned round. The root of all_reduce is the tree's.
/// Channel c is stream 2c on the way up, 2c + 1 on the way down.
Result<std::unique_ptr<Schedule>> make_tree(const CollectiveCall& call,
                                            std::vector<TreeShape> trees, const Chunking& chunking);

/// The two complementary binary trees over n nodes: a rank inside one is a leaf in the other.
TreeShape binary_tree(int nodes);
TreeShape mirrored_binary_tree(int nodes);

/// Which GPU of a node's chain talks to other nodes: in `plain` the first does all, in
/// `split` the first talks to the parent and the second to the children, in `balanced` the
/// second takes only one child.
enum class TreePattern : std::uint8_t { balanced, split, plain };

/// A tree over nodes whose ranks form chains in the order given.
TreeShape make_tree_shape(const std::vector<std::vector<int>>& ranks_of_nodes, bool mirrored,
                          TreePattern pattern);
/// The same for each of `channels`: the first half get the binary tree, the others the
/// mirrored one.
std::vector<TreeShape> make_tree_shapes(const std::vector<std::vector<int>>& ranks_of_nodes,
                                        int channels, TreePattern pattern);

/// In-switch reduction and multicast: all_reduce, all_gather, reduce_scatter. `islands`
/// groups the ranks that share switches; the first `heads_per_island` ranks of each are its
/// heads, and each owns a share of the data. The agent of island i's head h is
/// ranks + i x heads_per_island + h. With more islands than one, heads of equal index are
/// joined by double trees over the network (NVLS tree; all_reduce only). all_gather and
/// reduce_scatter need every rank to be a head.
/// Unless the user's buffers are `registered`, GPUs copy into and out of multicast memory,
/// which shows as messages between two streams of one rank.
Result<std::unique_ptr<Schedule>> make_nvls(const CollectiveCall& call, int channels,
                                            std::vector<std::vector<int>> islands,
                                            int heads_per_island, const Chunking& chunking,
                                            bool registered = false);

/// Parallel aggregated trees: all_gather, reduce_scatter in log2(ranks) latencies.
Result<std::unique_ptr<Schedule>> make_pat(const CollectiveCall& call, int channels,
                                           const Chunking& chunking);

/// Grouped send/recv: all_to_all, gather, scatter, sendrecv (to the next rank), in rounds
/// in which each rank sends to one peer and receives from one. Rounds visit groups of
/// `group_ranks` ranks (all ranks, where that does not divide their number). The bytes for
/// a peer are split over `channels_per_peer` of the `channels`, both powers of two. What a
/// rank keeps for itself is a message between two of its streams.
Result<std::unique_ptr<Schedule>> make_point_to_point(const CollectiveCall& call, int channels,
                                                      int channels_per_peer, int group_ranks,
                                                      const Chunking& chunking);

/// Pair p's first rank writes `bytes` of its input to the second's output, in messages: what
/// plain peer copies are. Pair p is stream 2p at the sender and 2p + 1 at the receiver.
std::unique_ptr<Schedule> make_copy(int ranks, std::vector<std::pair<int, int>> pairs,
                                    std::int64_t bytes, std::int64_t message_bytes);

}  // namespace isleway
