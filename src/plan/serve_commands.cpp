#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isleway/plan/serve_search.hpp"

namespace isleway::plan {
namespace {

using model::Precision;

/// Requests that a rank runs at once, rounded up to what graphs are captured for.
int batch_of(const ServeEstimate& e, const ServeLayout& layout) {
  const double ranks = double(layout.workers) * layout.data;
  const double each = std::max(1.0, std::ceil(std::max(e.running, 1.0) / ranks));
  return static_cast<int>(std::exp2(std::ceil(std::log2(each))));
}

const char* vllm_quantization(Precision precision) {
  switch (model::math_bits(precision)) {
    case 8: return precision == Precision::int8 ? "" : " --quantization fp8";
    default: return "";  // four-bit checkpoints say what they are
  }
}

std::string vllm(const ServeJob& job, const ServeEstimate& e, const ServeLayout& layout,
                 const std::string& model) {
  std::string text = fmt::format("vllm serve {} --tensor-parallel-size {}", model, layout.tensor);
  if (layout.pipeline > 1) text += fmt::format(" --pipeline-parallel-size {}", layout.pipeline);
  if (layout.data > 1) text += fmt::format(" --data-parallel-size {}", layout.data);
  if (layout.expert > 1) text += " --enable-expert-parallel";
  text += vllm_quantization(job.precision);
  if (model::math_bits(job.kv_precision) < 16) text += " --kv-cache-dtype fp8";
  text += fmt::format(
      " --max-model-len {:.0f} --max-num-seqs {} --max-num-batched-tokens {}"
      " --gpu-memory-utilization {:.2f}",
      std::ceil(job.input + job.output), batch_of(e, layout), job.chunk, job.memory_share);
  if (job.cached > 0) text += " --enable-prefix-caching";
  return text;
}

std::string tensorrt_llm(const ServeJob& job, const ServeEstimate& e, const ServeLayout& layout,
                         const std::string& model) {
  std::string text =
      fmt::format("trtllm-serve {} --backend pytorch --tp_size {}", model, layout.stage_gpus());
  if (layout.pipeline > 1) text += fmt::format(" --pp_size {}", layout.pipeline);
  if (layout.expert > 1) text += fmt::format(" --ep_size {}", layout.expert);
  const ServeMemory& m = e.memory;
  const double free = std::max(1.0, m.capacity - m.weights - m.activations - m.overhead);
  text += fmt::format(
      " --max_batch_size {} --max_num_tokens {} --max_seq_len {:.0f}"
      " --kv_cache_free_gpu_memory_fraction {:.2f}",
      batch_of(e, layout), job.chunk, std::ceil(job.input + job.output),
      std::clamp(m.cache / free, 0.05, 0.95));
  if (layout.data > 1) text += " --extra_llm_api_options <(echo 'enable_attention_dp: true')";
  return text;
}

std::string sglang(const ServeJob& job, const ServeEstimate& e, const ServeLayout& layout,
                   const std::string& model) {
  std::string text = fmt::format("python -m sglang.launch_server --model-path {} --tp-size {}",
                                 model, layout.stage_gpus());
  if (layout.pipeline > 1) text += fmt::format(" --pp-size {}", layout.pipeline);
  if (layout.data > 1) text += fmt::format(" --dp-size {} --enable-dp-attention", layout.data);
  if (layout.expert > 1) text += fmt::format(" --ep-size {}", layout.expert);
  text += fmt::format(
      " --max-running-requests {} --chunked-prefill-size {} --mem-fraction-static {:.2f}",
      batch_of(e, layout) * layout.data, job.chunk, job.memory_share);
  return text;
}

}  // namespace

std::vector<LaunchCommand> serve_commands(const ServeJob& job, const ServeEstimate& e,
                                          const std::string& model) {
  std::vector<LaunchCommand> all;
  const auto add = [&](const char* name, auto&& command) {
    if (!e.decode) {
      all.push_back({name, command(job, e, e.layout, model)});
      return;
    }
    all.push_back({fmt::format("{}, prefill", name), command(job, e, e.layout, model)});
    all.push_back({fmt::format("{}, decode", name), command(job, e, *e.decode, model)});
  };
  add("vllm", vllm);
  add("trtllm", tensorrt_llm);
  add("sglang", sglang);
  return all;
}

}  // namespace isleway::plan
