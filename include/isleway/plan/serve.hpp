// What serving a model costs: time to the first token and between tokens, throughput, memory.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "isleway/model.hpp"
#include "isleway/plan/compute.hpp"
#include "isleway/plan/interconnect.hpp"
#include "isleway/plan/serve_layout.hpp"

namespace isleway::plan {

/// What serving software costs beside the model's kernels, from machines/compute/serving.yaml.
struct ServeSoftware {
  std::string name, source;
  double step = 0;        ///< us a step: scheduling, sampling, launching the graph
  double request = 0;     ///< us a request before its prefill: HTTP, tokeniser, scheduler
  double sequence = 0;    ///< us a step and sequence: sampling and detokenising on the host
  double launch = 1;      ///< share of the kernels' launch that is left in a replayed graph
  double all_reduce = 1;  ///< own all-reduce kernels over NCCL's latency, within an island
  double arrivals = 0;    ///< share of requests that arrive with all the others at once
  double together = 0;    ///< share of prefills that ranks of attention DP do in the same step
};
/// Error: unknown, with the known names.
Result<ServeSoftware> serve_software(const std::filesystem::path& folder, std::string_view name);
Result<std::map<std::string, ServeSoftware>> all_serve_software(
    const std::filesystem::path& folder);

/// What is asked.
struct ServeJob {
  model::Transformer model;
  model::Precision precision = model::Precision::bf16;     ///< of the weights
  model::Precision kv_precision = model::Precision::bf16;  ///< of keys and values
  double input = 1024, output = 1024;                      ///< tokens of a request
  double cached = 0;          ///< share of the input that a prefix cache already holds
  double imbalance = 1;       ///< tokens of the busiest expert rank over the mean
  int chunk = 8192;           ///< tokens of prefill in a step at most
  int most_sequences = 2048;  ///< a worker's rank runs at once, at most
  double memory_share = 0.9;  ///< of a GPU's memory that may be used
  ServeSoftware software;
};

/// Where the time of a step goes; seconds.
struct StepTime {
  double gemm = 0, attention = 0, other = 0;  ///< on the GPU
  double tensor = 0;                          ///< all-reduces
  double experts = 0;                         ///< dispatch and combine
  double pipeline = 0;                        ///< between stages
  double host = 0;
  double total() const { return gemm + attention + other + tensor + experts + pipeline + host; }
};

/// Bytes of the fullest GPU.
struct ServeMemory {
  double weights = 0, activations = 0, overhead = 0;
  double cache = 0;     ///< left for keys and values
  double capacity = 0;  ///< of the GPU
  double sequence = 0;  ///< keys and values of one request at its longest
  double requests() const { return sequence > 0 ? cache / sequence : 0; }  ///< of one rank
};

/// One worker of a layout, whose steps can be timed.
class ServeWorker {
 public:
  /// Error: an objection to the layout, GPUs that nothing joins, a worker larger than the
  /// machine. All but the job are referred to.
  static Result<ServeWorker> create(const ServeJob& job, const ServeLayout& layout,
                                    const Interconnect& interconnect, const ComputeModel& compute,
                                    double gpu_memory);

  const ServeLayout& layout() const { return layout_; }
  const ServeMemory& memory() const { return memory_; }

  /// A step in which every rank of the worker takes `sequences` further by a token, each with
  /// `context` tokens before it, and works on `prefill` tokens of inputs which see `seen`
  /// tokens on average.
  StepTime step(double sequences, double context, double prefill = 0, double seen = 0) const;
  /// One request's whole prefill, alone, in chunks.
  double prefill_seconds() const;
  /// The link that the worker's collectives wait for; empty for one GPU.
  const std::string& bottleneck() const { return bottleneck_; }
  LinkKind tier() const { return tier_; }

 private:
  ServeWorker(const ServeJob& job, const ServeLayout& layout, const ComputeModel& compute)
      : job_(&job), layout_(layout), compute_(&compute) {}
  Result<void> connect(const Interconnect& interconnect);
  void reckon_memory(double gpu_memory);
  void add_layer(const model::Layer& layer, double layers, double sequences, double context,
                 double prefill, double seen, StepTime& time) const;

  double copies(const model::FeedForward& feed) const;

  const ServeJob* job_;
  ServeLayout layout_;
  const ComputeModel* compute_;
  const CostCurve* all_reduce_ = nullptr;
  const CostCurve* exchange_ = nullptr;  ///< all-to-all of experts, or all-gather of attention DP
  const CostCurve* stage_ = nullptr;     ///< to the next pipeline stage
  ServeMemory memory_;
  std::string bottleneck_;
  LinkKind tier_ = LinkKind::nvlink;
};

/// How requests fare on a deployment.
struct ServeEstimate {
  ServeLayout layout;                 ///< of all workers, or those that prefill
  std::optional<ServeLayout> decode;  ///< where other workers decode
  int gpus = 0;
  double concurrency = 0;     ///< requests in the system
  double running = 0;         ///< of them, decoding at once
  double ttft = 0, tpot = 0;  ///< seconds, means
  double requests_per_second = 0;
  double output_per_second = 0;  ///< tokens
  double output_per_gpu = 0;
  double user_speed() const { return tpot > 0 ? 1 / tpot : 0; }  ///< tokens/s that a user sees
  ServeMemory memory;                                            ///< of decoding workers
  StepTime step;                                                 ///< of one decoding step
  double prefill = 0;       ///< seconds of one request's prefill
  double transfer = 0;      ///< seconds, keys and values to the decoding worker
  bool cache_full = false;  ///< requests wait for memory
  std::string ceiling;      ///< what more of would help most
  std::string link;         ///< the link behind it; may be empty
};

/// A deployment under a fixed number of requests at once, each user sending the next when the
/// last is answered (how benchmarks load a server).
Result<ServeEstimate> serve_closed(const ServeJob& job, const ServeWorker& worker,
                                   double concurrency);
/// Prefill and decode on GPUs of their own; `transfer` is from a prefilling rank to a decoding one.
Result<ServeEstimate> serve_disaggregated(const ServeJob& job, const ServeWorker& prefill,
                                          const ServeWorker& decode, const CostCurve& transfer,
                                          double concurrency);
/// The number of requests at once under which `rate` are answered a second; nothing where the
/// deployment cannot. `closed` gives the estimate for a number of requests.
std::optional<ServeEstimate> serve_open(double rate, double most,
                                        const std::function<Result<ServeEstimate>(double)>& closed);
/// The most requests that memory lets run at once on all workers.
double most_concurrent(const ServeJob& job, const ServeWorker& worker);

}  // namespace isleway::plan
