// Arithmetic of a model by the conventions in which it is reported.
#pragma once

#include <string_view>

#include "isleway/core/error.hpp"
#include "isleway/model/transformer.hpp"

namespace isleway::model {

/// Reports differ in how they count attention's quadratic part. All count a multiply and an
/// add as two, and the backward pass as twice the forward one.
enum class FlopConvention {
  full,       ///< every query sees every key (Megatron-LM, PaLM's MFU)
  causal,     ///< what the mask and windows leave
  weights_6n  ///< 6 x active parameters without the input embedding, no attention at all
};
const char* name_of(FlopConvention convention);

/// Of one token in a sequence of `sequence` tokens.
double forward_flops(const Transformer& transformer, double sequence, FlopConvention convention);
/// Forward and backward; without recomputation, with the modules for further tokens.
double training_flops(const Transformer& transformer, double sequence, FlopConvention convention);

}  // namespace isleway::model
