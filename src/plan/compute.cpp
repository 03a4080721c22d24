#include "isleway/plan/compute.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace isleway::plan {
namespace {

using model::Precision;

/// Tiles of the result that libraries offer; a kernel is chosen by the shape.
struct Tile {
  std::int64_t m, n;
};
constexpr std::array kTiles = {Tile{256, 128}, Tile{128, 256}, Tile{128, 128},
                               Tile{64, 256},  Tile{64, 128},  Tile{128, 64},
                               Tile{64, 64},   Tile{32, 128},  Tile{16, 128}};
/// Ways to divide k among SMs where the result has fewer tiles than there are SMs.
constexpr std::int64_t kMostSplits = 64;
constexpr std::int64_t kLeastSplitColumns = 256;
/// Results are bf16; parts of a divided sum are fp32, written and read again.
constexpr double kResultBytes = 2, kPartialBytes = 4;
/// The loads of a tile hide behind its arithmetic, but not wholly when the two are alike:
/// the norm in which the two times are added (1: one after the other; large: the longer one).
constexpr double kOverlapNorm = 4;

std::int64_t pieces(std::int64_t whole, std::int64_t piece) { return (whole + piece - 1) / piece; }

double overlapped(double a, double b) {
  const double longer = std::max(a, b), ratio = longer > 0 ? std::min(a, b) / longer : 0;
  const double square = ratio * ratio;
  return longer * std::sqrt(std::sqrt(1 + square * square));
}
static_assert(kOverlapNorm == 4, "overlapped() takes the fourth root");

bool is_four_bit(Precision precision) {
  return precision == Precision::nvfp4 || precision == Precision::mxfp4;
}

/// Bytes of conversions of one product in training, less those that gemm() counts. Training
/// software brings each tensor into a narrow format once, by rows and by columns, for all of its
/// products: the input in the forward pass, the result's gradient in the backward pass. gemm()
/// has each product convert its own input, as serving software was measured to do.
double conversion_bytes(const Gemm& g, Precision precision, double convert_traffic, bool backward) {
  const double narrow = model::bytes_per_element(precision);
  const bool whole_tensor = precision == Precision::fp8_current;  // its largest is sought before
  const double once = 2 + 2 * narrow + (whole_tensor ? 2 : 0);
  const double each = convert_traffic * (2 + narrow);
  const double input = double(g.m) * double(g.k), gradient = double(g.m) * double(g.n);
  return backward ? gradient * once - (gradient + input) * each : input * (once - each);
}

}  // namespace

bool ComputeModel::multiplies(Precision precision) const {
  switch (model::math_bits(precision)) {
    case 4: return is_four_bit(precision) && part_.fp4 > 0;
    case 8: return precision == Precision::int8 ? part_.int8 > 0 : part_.fp8 > 0;
    default: return part_.bf16 > 0;
  }
}

double ComputeModel::peak_flops(Precision precision) const {
  constexpr double kTera = 1e12;
  if (!multiplies(precision)) return part_.bf16 * kTera;
  if (is_four_bit(precision)) return part_.fp4 * kTera;
  if (precision == Precision::int8) return part_.int8 * kTera;
  // Tensor cores take TF32 at half the rate of bf16.
  if (precision == Precision::tf32 || precision == Precision::fp32) return part_.bf16 / 2 * kTera;
  return (model::math_bits(precision) == 8 ? part_.fp8 : part_.bf16) * kTera;
}

const GemmConstants& ComputeModel::constants(Precision precision) const {
  if (!multiplies(precision) || model::math_bits(precision) >= 16) return bf16_;
  if (model::math_bits(precision) == 4) return fp4_;
  return precision == Precision::fp8_block ? fp8_block_ : fp8_;
}

ComputeModel ComputeModel::with(Precision precision, const GemmConstants& constants) const {
  ComputeModel changed = *this;
  const_cast<GemmConstants&>(changed.constants(precision)) = constants;
  return changed;
}

Time ComputeModel::gemm(const Gemm& gemm, Precision precision) const {
  if (gemm.m <= 0 || gemm.n <= 0 || gemm.k <= 0 || gemm.count <= 0) return {};
  const GemmConstants& c = constants(precision);
  const bool narrow = multiplies(precision);
  const double b_bytes = model::bytes_per_element(precision);
  const double a_bytes = narrow ? b_bytes : model::bytes_per_element(Precision::bf16);
  const auto m = double(gemm.m), n = double(gemm.n), k = double(gemm.k), count = double(gemm.count);
  const double traffic = count * (m * k * a_bytes + n * k * b_bytes + m * n * kResultBytes);
  const double memory = memory_rate_.bytes_per_second() * c.memory;
  const double sm_flops = peak_flops(precision) * c.peak * clock_ / sms_;

  double best = std::numeric_limits<double>::max();
  for (const Tile tile : kTiles) {
    const std::int64_t tiles = pieces(gemm.m, tile.m) * pieces(gemm.n, tile.n) * gemm.count;
    const double edge = 1 + c.edge * (1.0 / double(tile.m) + 1.0 / double(tile.n));
    const double column = 2.0 * double(tile.m * tile.n) * edge / sm_flops;
    for (std::int64_t splits = 1; splits <= kMostSplits; splits *= 2) {
      if (splits > 1 && (tiles * splits > 2 * sms_ || gemm.k / splits < kLeastSplitColumns)) break;
      const auto waves = double(pieces(tiles * splits, sms_));
      const double math = waves * column * (k / double(splits) + c.prologue);
      const double partial =
          splits > 1 ? 2.0 * double(splits) * count * m * n * kPartialBytes : 0.0;
      best = std::min(best, overlapped(math, (traffic + partial) / memory));
    }
  }
  Time time = Time::seconds(best) + Time::us(c.launch);
  if (narrow && model::math_bits(precision) < 16)
    time += Time::seconds(c.convert_traffic * count * m * k * (2 + a_bytes) / memory);
  return time;
}

Time ComputeModel::gemm_backward(const Gemm& g, Precision precision) const {
  return gemm({g.m, g.k, g.n, g.count}, precision) + gemm({g.k, g.n, g.m, g.count}, precision);
}

Time ComputeModel::attention(const Attention& call, bool backward) const {
  if (call.flops <= 0) return {};
  // The backward pass computes the scores again: five products for the forward pass' two.
  constexpr double kBackwardFlops = 2.5, kBackwardBytes = 2;
  constexpr double kMeasuredWidth = 128;
  const double share = (backward ? kernels_.attention_backward : kernels_.attention) * call.keys /
                       (call.keys + kernels_.attention_ramp);
  // A score's exponential takes as long however wide its head is.
  const double softmax =
      (1 + kernels_.softmax / std::max(1.0, call.width)) / (1 + kernels_.softmax / kMeasuredWidth);
  const double math = call.flops * softmax * (backward ? kBackwardFlops : 1) /
                      (peak_flops(Precision::bf16) * clock_ * std::max(share, 1e-3));
  const double moved = double(call.bytes.count()) * (backward ? kBackwardBytes : 1) /
                       (memory_rate_.bytes_per_second() * kernels_.memory);
  return Time::seconds(overlapped(math, moved)) + Time::us(kernels_.launch);
}

Time ComputeModel::memory(Bytes bytes, int kernels) const {
  return Time::seconds(double(bytes.count()) /
                       (memory_rate_.bytes_per_second() * kernels_.memory)) +
         Time::us(kernels_.launch * kernels);
}

Time ComputeModel::operation(const model::Operation& op, Precision weights, bool backward) const {
  constexpr double kScanWidth = 128;
  const double bf16 = model::bytes_per_element(Precision::bf16);
  const Bytes bytes(std::llround((op.elements + op.weights) * bf16));
  switch (op.kind) {
    case model::Operation::Kind::gemm: {
      const Gemm shape{op.m, op.n, op.k, op.count};
      const Time products = backward ? gemm_backward(shape, weights) : gemm(shape, weights);
      if (!multiplies(weights) || model::math_bits(weights) >= 16) return products;
      const double rate =
          memory_rate_.bytes_per_second() * constants(weights).memory / double(op.count);
      return products +
             Time::seconds(
                 conversion_bytes(shape, weights, constants(weights).convert_traffic, backward) /
                 rate);
    }
    case model::Operation::Kind::attention:
      return attention({op.flops, bytes, op.keys, op.width}, backward);
    case model::Operation::Kind::recurrence:
      // Chunked scans are products of small matrices; they run like attention over a chunk.
      return attention({op.flops, bytes, kernels_.attention_ramp, kScanWidth}, backward);
    case model::Operation::Kind::memory: return memory(bytes * (backward ? 2 : 1), op.kernels);
  }
  return {};
}

}  // namespace isleway::plan
