// What the ranks that share a layer tell one another.
#pragma once

#include "isleway/model/operations.hpp"

namespace isleway::model {

/// Elements of one layer and micro-batch in the forward pass, on one rank, before any factor
/// that a collective adds: an all-reduce of `tensor` elements moves 2 (t-1)/t of them.
struct LayerTraffic {
  double tensor = 0;           ///< of one all-reduce (or all-gather and reduce-scatter)
  int tensor_calls = 0;        ///< of them in the forward pass
  double experts = 0;          ///< sent to experts, and as much back; before node-limited routing
  double context = 0;          ///< keys and values that context parallelism passes round
  double context_results = 0;  ///< of a token: what partial attention gives, to be merged
};
LayerTraffic traffic(const Layer& layer, std::int64_t hidden, const Shard& shard, const Work& work);

}  // namespace isleway::model
