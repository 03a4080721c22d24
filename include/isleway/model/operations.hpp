// The kernels of a layer's forward pass on one of the ranks that share it.
#pragma once

#include <cstdint>
#include <vector>

#include "isleway/model/transformer.hpp"

namespace isleway::model {

/// How a layer is divided, and over how many tokens one rank works.
struct Shard {
  std::int64_t tensor = 1;         ///< TP of attention, dense parts and shared experts
  std::int64_t expert_tensor = 1;  ///< TP inside a routed expert
  std::int64_t expert = 1;         ///< EP
  bool sequence = true;            ///< what TP leaves whole is divided by sequence (SP)
};

/// Tokens that a layer works on at once.
struct Work {
  std::int64_t tokens = 0;     ///< of this rank (its context-parallel share), all sequences
  std::int64_t sequences = 1;  ///< that they belong to
  double context = 0;          ///< tokens that a query sees on average, before any window
  bool spread = true;          ///< contexts range from 0 to twice that (training, prefill);
                               ///< else all are the same (decode)
  /// Tokens that this rank's experts get over those that they get on average.
  double imbalance = 1;
};

struct Operation {
  enum class Kind : std::uint8_t {
    gemm,        ///< m x k times k x n, `count` times in one kernel (experts of a rank)
    attention,   ///< scores, softmax, weighted values
    recurrence,  ///< scan of a state
    memory       ///< norms, activations, permutations: bytes decide
  };
  Kind kind = Kind::gemm;
  const char* name = "";
  std::int64_t m = 0, n = 0, k = 0, count = 1;  ///< gemm; m is per count
  double flops = 0;                             ///< multiply and add are two
  double elements = 0;                          ///< read and written, besides the weights
  double weights = 0;                           ///< read
  double keys = 0;                              ///< attention: that a query sees on average
  double width = 0;                             ///< attention: of a head's queries and values
  int kernels = 1;                              ///< launched
  bool expert = false;                          ///< of a routed expert
};

/// In the order in which they run. Attention counts what a causal mask leaves.
std::vector<Operation> operations(const Layer& layer, std::int64_t hidden, const Shard& shard,
                                  const Work& work);
/// The output projection to the vocabulary, with the loss's softmax.
std::vector<Operation> head_operations(const Transformer& transformer, const Shard& shard,
                                       const Work& work);

/// Rows that one rank's experts work on: every rank brings its tokens, each to `topk` experts.
double expert_rows(const FeedForward& feed, const Shard& shard, const Work& work);

/// Keys that a query sees on average through the layer's window, compression and picks.
double seen(const Mixer& mixer, const Work& work);

}  // namespace isleway::model
