// What a layout of a training job costs: time of a step, memory of a GPU.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isleway/model.hpp"
#include "isleway/plan/compute.hpp"
#include "isleway/plan/interconnect.hpp"
#include "isleway/plan/slowest_gpu.hpp"
#include "isleway/plan/train_layout.hpp"

namespace isleway::plan {

/// What the training software does beside computing.
struct Framework {
  bool tensor_overlap = true;    ///< tensor-parallel traffic beside the matrix multiplies
  bool data_overlap = true;      ///< gradients and weights beside the last and first micro-batch
  bool pipeline_overlap = true;  ///< stages do not wait for what they send
  bool expert_overlap = false;   ///< experts' traffic beside another micro-batch's compute
  bool node_limited = true;      ///< a token crosses to another host once, however many experts
                                 ///< it has there (DeepEP, HybridEP)
  bool fused_attention = true;   ///< FlashAttention and its like, of 2022
  bool newest_attention = true;  ///< kernels made for the GPU, not FlashAttention 2
  bool graphs = false;           ///< launches are replayed, so the host never limits
  double host = 1;               ///< the host's time for a launch over today's Megatron-LM
  double pointwise = 1;          ///< bytes of norms, activations, ... over fused kernels'
  double gradient_bytes = 4;     ///< of one element as data parallelism reduces it
  double logit_bytes = 8;        ///< of one logit with all that the loss keeps for it
  /// What it computes again when not all of a layer.
  model::Recompute cheap = model::Recompute::pointwise;
};
/// "megatron" (today's), "megatron-2021" (no overlap, no fused attention), "torchtitan",
/// "torchtitan-async-tp". Error: lists them.
Result<Framework> parse_framework(std::string_view text);

struct TrainJob {
  model::Transformer model;
  std::int64_t sequence = 4096;
  std::int64_t global_batch = 1024;  ///< sequences of a step
  model::Precision precision = model::Precision::bf16;
  Framework framework;
  double imbalance = 1;  ///< tokens of the busiest expert rank over the mean
  double straggler = 1;  ///< time of the slowest GPU over the others'
};

/// Kinds of traffic, and what else a step is made of.
enum class Part : std::uint8_t {
  compute,
  recompute,
  tensor,
  context,
  experts,
  pipeline,  ///< what stages send one another
  bubble,
  data,
  optimizer,
  host  ///< launches that the GPU waits for, and what a step costs besides
};
inline constexpr std::size_t kParts = 10;
const char* name_of(Part part);

/// One kind of traffic on the GPU that ends a step.
struct TrafficRow {
  Part part = Part::tensor;
  const char* collective = "";
  GroupShape group;
  LinkKind tier = LinkKind::nvlink;
  int hosts = 1;
  std::string link;  ///< the busiest one of its group
  double bytes = 0;  ///< of one call, as nccl-tests counts them
  double calls = 0;  ///< of a step
  double sent = 0;   ///< bytes that one GPU sends in a step
  Time time;         ///< of a step, if nothing hid it
  Time exposed;
};

/// Memory of the fullest rank of one pipeline stage.
struct StageMemory {
  int stage = 0;
  int layers = 0;
  double weights = 0, gradients = 0, optimizer = 0, activations = 0, logits = 0, buffers = 0;
  double capacity = 0;  ///< of the smallest GPU of the stage
  double total() const { return weights + gradients + optimizer + activations + logits + buffers; }
};

struct TrainEstimate {
  TrainLayout layout;
  std::int64_t micro_batches = 0;
  Time step;
  std::array<Time, kParts> parts{};  ///< sum to `step`
  double tokens_per_gpu_second = 0;
  double model_flops = 0;  ///< of a GPU, FLOP/s, with full attention
  double mfu = 0;          ///< of the peak in the job's precision
  std::vector<TrafficRow> traffic;
  std::vector<StageMemory> memory;
  double capacity = 0;  ///< bytes of a GPU of the fullest stage
  double needed = 0;    ///< of that stage
  bool fits() const { return needed <= capacity; }
};

/// Prices layouts of one job on one set of GPUs.
class TrainModel {
 public:
  /// `compute` is that of the slowest GPU. All but the job are referred to.
  TrainModel(TrainJob job, const Interconnect& interconnect, ComputeModel compute,
             const Parts& parts, double memory_capacity, GpuSpread spread = {});
  ~TrainModel();
  TrainModel(TrainModel&&) noexcept;

  const TrainJob& job() const;
  const Interconnect& interconnect() const;
  const ComputeModel& compute() const;
  double capacity() const;
  const GpuSpread& spread() const;

  /// Why a layout cannot be for this job and these GPUs, and the nearest that can; nothing
  /// where it can. Memory is not looked at.
  std::optional<Error> objection(const TrainLayout& layout) const;

  /// `exact` simulates the pipeline; else a formula that is good enough to rank by. Error: an
  /// objection, or a group that nothing joins.
  Result<TrainEstimate> price(const TrainLayout& layout, bool exact = true) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isleway::plan
