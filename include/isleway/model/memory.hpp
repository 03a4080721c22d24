// What a model keeps in a GPU's memory.
#pragma once

#include <cstdint>

#include "isleway/core/units.hpp"
#include "isleway/model/operations.hpp"
#include "isleway/model/precision.hpp"
#include "isleway/model/transformer.hpp"

namespace isleway::model {

/// What the backward pass computes again rather than finding it kept.
enum class Recompute : std::uint8_t {
  none,
  selective,  ///< the core of attention; a fused attention always does that (Megatron's word)
  pointwise,  ///< norms, activation functions, latent up-projections as well
  alternate,  ///< of the matrix multiplies every second one too (torchtitan's "selective")
  full        ///< all of the layer, from its input
};
const char* name_of(Recompute recompute);
Result<Recompute> parse_recompute(std::string_view text);

/// Bytes that one layer keeps for one micro-batch until its backward pass, on one rank.
double activation_bytes(const Layer& layer, std::int64_t hidden, const Shard& shard,
                        const Work& work, Recompute recompute, bool fused_attention = true);
/// Logits and what the loss makes of them, `each` bytes for one, of the last stage.
double logits_bytes(const Transformer& transformer, const Shard& shard, const Work& work,
                    double each);

/// Bytes of one token of one sequence in a layer's KV cache on one rank; recurrent layers: 0.
/// Latent keys and keys of fewer heads than ranks are kept whole by every rank.
double kv_bytes_per_token(const Mixer& mixer, std::int64_t tensor, double bytes_per_element);
/// Bytes of one sequence that do not grow with it (a recurrent state).
double state_bytes_per_sequence(const Mixer& mixer, std::int64_t tensor);
/// KV cache of a whole sequence in all layers on one rank; windows keep no more than they see.
double kv_bytes(const Transformer& transformer, double tokens, std::int64_t tensor,
                double bytes_per_element);

}  // namespace isleway::model
