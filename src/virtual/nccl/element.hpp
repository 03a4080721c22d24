// NCCL's element types and reductions, on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace isleway::vgpu::nccl {

/// ncclDataType_t.
enum class Type : int {
  int8,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  bfloat16,
  float8e4m3,
  float8e5m2
};
constexpr int kTypes = 12;
int size_of(Type type);

/// ncclRedOp_t, and what a user's operation was made from.
enum class Op : int { sum, prod, max, min, avg, premul_sum };

/// What one rank does with its numbers.
struct Reduction {
  Op op = Op::sum;
  Type type = Type::float32;
  int ranks = 1;  ///< avg
};

/// into = into (+) from, element by element. Both have the same length.
void reduce(const Reduction& reduction, std::span<std::byte> into, std::span<const std::byte> from);
/// What avg still has to do when all ranks are in.
void finish(const Reduction& reduction, std::span<std::byte> values);
/// values *= the scalar, given as bytes of the type.
void scale(Type type, std::span<std::byte> values, const std::byte* scalar);

}  // namespace isleway::vgpu::nccl
