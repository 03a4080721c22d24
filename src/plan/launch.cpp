#include "isleway/plan/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace isleway::plan {
namespace {

using model::Precision;
using model::Recompute;

/// Collects "--flag value" pairs.
class Flags {
 public:
  void add(std::string_view flag) { lines_.emplace_back(flag); }
  template <class T>
  void add(std::string_view flag, const T& value) {
    lines_.push_back(fmt::format("{} {}", flag, value));
  }
  std::string text() const {
    std::string all;
    for (std::size_t i = 0; i < lines_.size(); ++i)
      all += lines_[i] + (i + 1 < lines_.size() ? " \\\n" : "\n");
    return all;
  }

 private:
  std::vector<std::string> lines_;
};

void add_model(const model::Transformer& model, Flags& flags) {
  flags.add("--num-layers", model.layer_count());
  flags.add("--hidden-size", model.hidden);
  if (const model::Mixer* attention = model.first_attention()) {
    flags.add("--num-attention-heads", attention->heads);
    if (attention->kind == model::MixerKind::latent_attention) {
      flags.add("--multi-latent-attention");
    } else if (attention->kv_heads != attention->heads) {
      flags.add("--group-query-attention");
      flags.add("--num-query-groups", attention->kv_heads);
    }
  }
  for (const model::Layer& layer : model.kinds) {
    if (layer.feed_forward.dense == 0) continue;
    flags.add("--ffn-hidden-size", layer.feed_forward.dense);
    if (layer.feed_forward.gated) flags.add("--swiglu");
    break;
  }
  if (!model.tied) flags.add("--untie-embeddings-and-output-weights");
}

void add_experts(const model::Transformer& model, const TrainLayout& layout, Flags& flags) {
  if (!model.has_experts()) return;
  for (const model::Layer& layer : model.kinds) {
    const model::FeedForward& feed = layer.feed_forward;
    if (feed.experts == 0) continue;
    flags.add("--num-experts", feed.experts);
    flags.add("--moe-router-topk", feed.topk);
    flags.add("--moe-ffn-hidden-size", feed.expert);
    if (feed.shared > 0) flags.add("--moe-shared-expert-intermediate-size", feed.shared);
    break;
  }
  flags.add("--expert-model-parallel-size", layout.expert);
  flags.add("--expert-tensor-parallel-size", layout.expert_tensor);
  flags.add("--moe-token-dispatcher-type", layout.expert > 1 ? "alltoall" : "allgather");
  flags.add("--moe-grouped-gemm");
}

void add_pipeline(const TrainJob& job, const TrainLayout& layout, Flags& flags) {
  flags.add("--pipeline-model-parallel-size", layout.pipeline);
  const std::int64_t layers = job.model.layer_count();
  const int stages = layout.stages();
  if (layout.virtual_stages > 1)
    flags.add("--num-virtual-stages-per-pipeline-rank", layout.virtual_stages);
  if (layers % stages != 0) {
    // As this program divides them: the first and the last stage have a layer less.
    if ((layers + 2) % stages == 0 || (layers + 1) % stages == 0)
      flags.add("--account-for-loss-in-pipeline-split");
    if ((layers + 2) % stages == 0) flags.add("--account-for-embedding-in-pipeline-split");
  }
}

void add_precision(const TrainJob& job, Flags& flags) {
  if (job.precision == Precision::fp16) {
    flags.add("--fp16");
    return;
  }
  flags.add("--bf16");
  if (model::math_bits(job.precision) == 8) {
    flags.add("--fp8-format", "hybrid");
    const char* recipe = job.precision == Precision::mxfp8         ? "mxfp8"
                         : job.precision == Precision::fp8_block   ? "blockwise"
                         : job.precision == Precision::fp8_delayed ? "delayed"
                                                                   : "tensorwise";
    flags.add("--fp8-recipe", recipe);
  } else if (job.precision == Precision::nvfp4) {
    flags.add("--fp4-format", "e2m1");
    flags.add("--fp4-recipe", "nvfp4");
  }
}

void add_recompute(const TrainLayout& layout, Flags& flags) {
  if (layout.recompute == Recompute::none) return;
  if (layout.recompute == Recompute::full) {
    flags.add("--recompute-granularity", "full");
    flags.add("--recompute-method", "uniform");
    flags.add("--recompute-num-layers", 1);
    return;
  }
  flags.add("--recompute-granularity", "selective");
  if (layout.recompute == Recompute::pointwise || layout.recompute == Recompute::alternate)
    flags.add("--recompute-modules", "layernorm moe_act mla_up_proj");
}

int hosts_per_domain(const Interconnect& interconnect) {
  return std::max(1, interconnect.domain_size() / std::max(1, interconnect.gpus_per_host()));
}

}  // namespace

std::string megatron_flags(const TrainJob& job, const TrainLayout& layout) {
  Flags flags;
  add_model(job.model, flags);
  flags.add("--seq-length", job.sequence);
  flags.add("--max-position-embeddings", std::max(job.sequence, job.model.max_positions));
  flags.add("--micro-batch-size", layout.micro_batch);
  flags.add("--global-batch-size", job.global_batch);
  flags.add("--tensor-model-parallel-size", layout.tensor);
  if (layout.tensor > 1 && layout.sequence) flags.add("--sequence-parallel");
  if (layout.tensor > 1 && job.framework.tensor_overlap) flags.add("--tp-comm-overlap");
  flags.add("--context-parallel-size", layout.context);
  if (layout.context > 1)
    flags.add("--cp-comm-type", layout.context_method == ContextMethod::ring         ? "p2p"
                                : layout.context_method == ContextMethod::all_gather ? "all_gather"
                                                                                     : "a2a");
  add_pipeline(job, layout, flags);
  add_experts(job.model, layout, flags);
  if (layout.sharding == Sharding::optimizer) {
    flags.add("--use-distributed-optimizer");
    if (job.framework.data_overlap) {
      flags.add("--overlap-grad-reduce");
      flags.add("--overlap-param-gather");
    }
  } else if (layout.sharding != Sharding::none) {
    flags.add("--use-megatron-fsdp");
    flags.add("--data-parallel-sharding-strategy",
              layout.sharding == Sharding::parameters ? "optim_grads_params" : "optim_grads");
  }
  if (layout.order != kUsualOrder) flags.add("--use-tp-pp-dp-mapping");
  add_recompute(layout, flags);
  add_precision(job, flags);
  return flags.text();
}

std::string torchtitan_toml(const TrainJob& job, const TrainLayout& layout) {
  const bool sharded = layout.sharding != Sharding::none;
  const int shards = layout.shard_group > 0 ? layout.shard_group : layout.data;
  const std::int64_t micro_batches =
      job.global_batch / (std::int64_t{layout.data} * layout.micro_batch);
  std::string text = "[training]\n";
  text += fmt::format("seq_len = {}\n", job.sequence);
  text +=
      fmt::format("local_batch_size = {}\n",
                  layout.pipeline > 1 ? layout.micro_batch * micro_batches : layout.micro_batch);
  text += fmt::format("global_batch_size = {}\n", job.global_batch);
  text += "\n[parallelism]\n";
  text += fmt::format("data_parallel_replicate_degree = {}\n",
                      sharded ? std::max(1, layout.data / shards) : layout.data);
  text += fmt::format("data_parallel_shard_degree = {}\n", sharded ? shards : 1);
  text += fmt::format("fsdp_reshard_after_forward = \"{}\"\n",
                      layout.sharding == Sharding::parameters ? "default" : "never");
  text += fmt::format("tensor_parallel_degree = {}\n", layout.tensor);
  text += fmt::format("enable_async_tensor_parallel = {}\n",
                      layout.tensor > 1 && job.framework.tensor_overlap);
  text += fmt::format("context_parallel_degree = {}\n", layout.context);
  text += fmt::format("expert_parallel_degree = {}\n", layout.expert);
  text += fmt::format("pipeline_parallel_degree = {}\n", layout.pipeline);
  if (layout.pipeline > 1) {
    const char* schedule = layout.schedule == Schedule::interleaved   ? "Interleaved1F1B"
                           : layout.schedule == Schedule::zero_bubble ? "ZBVZeroBubble"
                           : layout.schedule == Schedule::dual_pipe   ? "DualPipeV"
                                                                      : "1F1B";
    text += fmt::format("pipeline_parallel_schedule = \"{}\"\n", schedule);
    text += fmt::format("pipeline_parallel_microbatch_size = {}\n", layout.micro_batch);
  }
  text += "\n[activation_checkpoint]\n";
  text += fmt::format("mode = \"{}\"\n", layout.recompute == Recompute::none   ? "none"
                                         : layout.recompute == Recompute::full ? "full"
                                                                               : "selective");
  if (layout.recompute == Recompute::alternate) text += "selective_ac_option = \"op\"\n";
  if (model::math_bits(job.precision) == 8) {
    text += "\n[model]\nconverters = [\"float8\"]\n\n[quantize.linear.float8]\n";
    text += fmt::format("enable_fsdp_float8_all_gather = {}\nrecipe_name = \"{}\"\n",
                        layout.sharding == Sharding::parameters,
                        job.precision == Precision::fp8_rowwise ? "rowwise" : "tensorwise");
  }
  return text;
}

std::string hostfile(const Fabric& fabric) {
  std::vector<std::pair<std::uint32_t, int>> hosts;
  for (GpuId gpu = 0; gpu < fabric.gpu_count(); ++gpu) {
    const std::uint32_t host = fabric.host_of(fabric.gpu(gpu));
    if (hosts.empty() || hosts.back().first != host) hosts.emplace_back(host, 0);
    ++hosts.back().second;
  }
  std::string text;
  for (const auto& [host, gpus] : hosts) text += fmt::format("node{} slots={}\n", host, gpus);
  return text;
}

std::string slurm_placement(const Interconnect& interconnect, const TrainLayout& layout) {
  const int hosts = static_cast<int>(interconnect.fabric().host_count());
  const int domain = hosts_per_domain(interconnect);
  std::string text = fmt::format(
      "#SBATCH --nodes={}\n#SBATCH --ntasks-per-node={}\n"
      "#SBATCH --gpus-per-node={}\n#SBATCH --distribution=block:block\n",
      hosts, interconnect.gpus_per_host(), interconnect.gpus_per_host());
  const int near = std::max(layout.tensor * layout.context, layout.expert * layout.expert_tensor);
  if (domain > 1 && near > interconnect.gpus_per_host()) {
    // Ranks that talk most must get hosts of one NVLink domain (topology/block).
    const int segment =
        std::min(domain, (near + interconnect.gpus_per_host() - 1) / interconnect.gpus_per_host());
    text += fmt::format("#SBATCH --segment={}\n", segment);
  }
  return text;
}

std::string kubernetes_placement(const Interconnect& interconnect, const TrainLayout& layout) {
  const int hosts = static_cast<int>(interconnect.fabric().host_count());
  std::string text = fmt::format(
      "apiVersion: batch/v1\n"
      "kind: Job\n"
      "metadata:\n"
      "  name: train\n"
      "spec:\n"
      "  completionMode: Indexed\n"
      "  completions: {0}\n"
      "  parallelism: {0}\n"
      "  template:\n"
      "    metadata:\n"
      "      labels: {{app: train}}\n"
      "    spec:\n"
      "      restartPolicy: Never\n"
      "      containers:\n"
      "        - name: train\n"
      "          image: IMAGE  # yours\n"
      "          resources: {{limits: {{nvidia.com/gpu: {1}}}}}\n",
      hosts, interconnect.gpus_per_host());
  const int near = std::max(layout.tensor * layout.context, layout.expert * layout.expert_tensor);
  if (hosts_per_domain(interconnect) > 1 && near > interconnect.gpus_per_host())
    text +=
        "      affinity:\n"
        "        podAffinity:\n"
        "          requiredDuringSchedulingIgnoredDuringExecution:\n"
        "            - topologyKey: nvidia.com/gpu.clique\n"
        "              labelSelector: {matchLabels: {app: train}}\n";
  return text;
}

}  // namespace isleway::plan
