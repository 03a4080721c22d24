// How long a kernel runs on one GPU.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "isleway/core/units.hpp"
#include "isleway/fabric/parts.hpp"
#include "isleway/model/operations.hpp"
#include "isleway/model/precision.hpp"

namespace isleway::plan {

/// `count` independent products of an m x k by a k x n matrix in one kernel.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0, count = 1;
};

/// How the matrix multiplies of one generation of GPUs behave in one number format. Fitted on
/// measured times (docs/compute.md); each number has a physical meaning.
struct GemmConstants {
  double peak = 1;      ///< share of the peak rate that an endless product reaches
  double memory = 1;    ///< share of the memory's rate
  double prologue = 0;  ///< columns of k that filling and emptying a tile's pipeline costs
  double edge = 0;      ///< rows that loading a tile's edge costs: small tiles are slower
  double launch = 0;    ///< us, start to end of a kernel that does nothing
  /// Bytes that bringing activations into a narrow format moves, over those of reading bf16 and
  /// writing narrow once.
  double convert_traffic = 0;
};

/// Fused attention.
struct Attention {
  double flops = 0;  ///< of both products
  Bytes bytes;       ///< of queries, keys, values and result
  double keys = 0;   ///< that a query sees on average
  double width = 0;  ///< of a head: mean of queries' and values'
};

/// Everything else that runs on a GPU.
struct KernelConstants {
  double memory = 1;       ///< share of the memory's rate of streaming kernels
  double launch = 0;       ///< us, of one such kernel
  double host_launch = 0;  ///< us, of the host's thread for each kernel, without graphs
  double attention = 1;    ///< share of the bf16 peak of attention's forward pass, heads of 128
  double attention_backward = 1;
  double attention_ramp = 0;  ///< keys seen at which attention reaches half of that
  double flash2 = 1;          ///< rate of FlashAttention 2 over that of the best kernels
  double softmax = 0;         ///< elements of a head's width that take as long as a score's softmax
};

/// A GPU's peak rates and the constants of its generation.
struct ComputePart {
  std::string key, generation, source;
  double bf16 = 0, fp8 = 0, fp4 = 0, int8 = 0;  ///< dense TFLOP/s; 0: not in hardware
  /// Power limit over that of the boards on which its generation was measured.
  double power = 1;
  /// The constants were not measured on this GPU, but on the one they are taken from.
  std::string extrapolated;
};

class ComputeCatalogue;

/// The kernels of one GPU. Immutable; copies are cheap enough to keep in a plan.
class ComputeModel {
 public:
  const std::string& gpu() const { return part_.key; }
  const ComputePart& part() const { return part_; }
  /// Multiplies this format in hardware. Otherwise weights may still be kept in it: they are
  /// widened on the way into a bf16 product.
  bool multiplies(model::Precision precision) const;
  /// Dense peak of the units that a product in this format runs on, FLOP/s.
  double peak_flops(model::Precision precision) const;
  Rate memory_rate() const { return memory_rate_; }

  /// From bf16 activations to a bf16 result, with what converts the activations on the way.
  Time gemm(const Gemm& gemm, model::Precision precision) const;

  /// Both products of the backward pass of gemm(): by the input and by the weights.
  Time gemm_backward(const Gemm& gemm, model::Precision precision) const;

  Time attention(const Attention& attention, bool backward = false) const;

  /// A kernel that streams memory, or several of them one after the other.
  Time memory(Bytes bytes, int kernels = 1) const;

  /// What the host's thread spends on launching, where no graph replays the kernels. A GPU
  /// is idle for as long as this is more than the kernels' own time.
  Time host_launch(int kernels) const { return Time::us(kernels_.host_launch * kernels); }

  /// One operation of a layer's forward pass (or backward pass). `weights` is the format of
  /// matrix multiplies; other tensors are bf16.
  Time operation(const model::Operation& operation, model::Precision weights,
                 bool backward = false) const;

  const GemmConstants& constants(model::Precision precision) const;
  const KernelConstants& kernels() const { return kernels_; }
  /// The same GPU with other constants for a number format, as the fit tries them.
  ComputeModel with(model::Precision precision, const GemmConstants& constants) const;

 private:
  friend class ComputeCatalogue;
  ComputePart part_;
  Rate memory_rate_;
  double clock_ = 1;  ///< that the power limit leaves
  int sms_ = 1;
  KernelConstants kernels_;
  GemmConstants bf16_, fp8_, fp8_block_, fp4_;
};

/// machines/compute: gpus.yaml (peaks), kernels.yaml, gemm.yaml (fitted).
class ComputeCatalogue {
 public:
  static Result<ComputeCatalogue> open(const std::filesystem::path& folder);

  /// By the key of the parts catalogue. Error: no GPU of that name, or one whose arithmetic
  /// is not known.
  Result<ComputeModel> gpu(const Parts& parts, std::string_view key) const;
  const std::map<std::string, ComputePart, std::less<>>& parts() const { return gpus_; }

 private:
  friend class ComputeReader;
  std::map<std::string, ComputePart, std::less<>> gpus_;
  std::map<std::string, KernelConstants, std::less<>> kernels_;
  std::map<std::string, std::map<std::string, GemmConstants, std::less<>>, std::less<>> gemm_;
};

}  // namespace isleway::plan
