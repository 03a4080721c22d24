// How many weights a model has, by what becomes of them when it is divided.
#pragma once

#include <cstdint>

#include "isleway/model/transformer.hpp"

namespace isleway::model {

/// Of one layer. Tensor parallelism divides `sharded`, expert parallelism `experts`; every
/// rank keeps all of `replicated`.
struct LayerParameters {
  std::int64_t mixer = 0;    ///< matrices of the mixer; sharded
  std::int64_t dense = 0;    ///< dense part and shared experts; sharded
  std::int64_t experts = 0;  ///< all routed ones
  std::int64_t one_expert = 0;
  std::int64_t replicated = 0;  ///< norms, router, low-rank down-projections
  std::int64_t topk = 0;

  std::int64_t sharded() const { return mixer + dense; }
  std::int64_t total() const { return mixer + dense + experts + replicated; }
  /// That work for one token.
  std::int64_t active() const { return mixer + dense + topk * one_expert + replicated; }
};
LayerParameters parameters(const Layer& layer, std::int64_t hidden);

struct ModelParameters {
  std::int64_t embedding = 0;  ///< input, with learned positions
  std::int64_t head = 0;       ///< 0 when tied to the input's
  std::int64_t layers = 0;
  std::int64_t active_layers = 0;
  std::int64_t other = 0;  ///< final norm
  std::int64_t mtp = 0;    ///< modules for further tokens; in no total, as published

  std::int64_t total() const { return embedding + head + layers + other; }
  std::int64_t active() const { return embedding + head + active_layers + other; }
};
ModelParameters parameters(const Transformer& transformer);

}  // namespace isleway::model
