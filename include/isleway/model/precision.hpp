// Number formats, and how many bytes they take.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "isleway/core/error.hpp"

namespace isleway::model {

/// Formats differ in more than width: which tensors they hold, how scales are kept.
enum class Precision : std::uint8_t {
  fp32,
  tf32,
  bf16,
  fp16,
  fp8_delayed,  ///< one scale a tensor, from earlier steps
  fp8_current,  ///< one scale a tensor, of this step ("CS", tensorwise)
  fp8_rowwise,
  fp8_block,  ///< blocks of 1 x 128 and 128 x 128 (DeepSeek; "SC")
  mxfp8,      ///< 32 elements share an 8-bit exponent
  int8,
  mxfp4,  ///< 4 bits, 32 elements share an 8-bit exponent
  nvfp4,  ///< 4 bits, 16 elements share an FP8 scale
  int4    ///< 4 bits, groups of 32 or 128 share a scale
};

const char* name_of(Precision precision);
/// As users write it: "bf16", "fp8" (current scaling), "fp8_cs", "mxfp8", "nvfp4", ...
Result<Precision> parse_precision(std::string_view text);
std::span<const Precision> precisions();

/// Bytes of one element, its share of the scales included.
double bytes_per_element(Precision precision);
/// 16, 8 or 4: which of the GPU's peak rates multiplies it.
int math_bits(Precision precision);

}  // namespace isleway::model
