#include "isleway/plan/serve_score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "isleway/plan/slowest_gpu.hpp"
#include "plan/run_inputs.hpp"

namespace isleway::plan {

struct ServeScorer::State {
  RunInputs inputs;
  const ComputeCatalogue& compute;
};

ServeScorer::ServeScorer(const Catalogue& catalogue, const ComputeCatalogue& compute,
                         const model::ModelCatalogue& models)
    : state_(std::make_unique<State>(State{{catalogue, models}, compute})) {}
ServeScorer::~ServeScorer() = default;

namespace {

/// Output tokens per GPU and second of a machine that loses nothing.
double roofline_rate(const ServeJob& job, const ComputeModel& gpu, int gpus, double concurrency) {
  const auto p = model::parameters(job.model);
  const double weight = model::bytes_per_element(job.precision);
  const double flops =
      2 * double(p.active()) * (job.input * (1 - job.cached) + job.output) / job.output;
  const double math = gpu.peak_flops(job.precision) / flops;
  const double cache = model::kv_bytes(job.model, job.input + job.output / 2, 1,
                                       model::bytes_per_element(job.kv_precision));
  const double batch = std::max(1.0, concurrency);
  const double step =
      (double(p.total()) * weight + batch * cache) / (gpu.memory_rate().bytes_per_second() * gpus);
  return std::min(math, batch / step / gpus);
}

model::Precision usual_kv(const ServeRun& run) {
  // TensorRT-LLM's and vLLM's recipes keep keys and values in FP8 where weights are FP8 or less.
  return model::math_bits(run.precision) < 16 ? model::Precision::fp8_current
                                              : model::Precision::bf16;
}

}  // namespace

ServeScore ServeScorer::score(const RunSource& source, const ServeRun& run,
                              const ServeSoftware& software) {
  ServeScore score;
  score.source = &source;
  score.run = &run;
  const auto give_up = [&](const Error& error) {
    score.left_out = error.what;
    return score;
  };
  const auto& transformer = state_->inputs.transformer(source, run.model);
  if (!transformer) return give_up(transformer.error());
  const auto& interconnect = state_->inputs.interconnect(run.platform);
  if (!interconnect) return give_up(interconnect.error());
  const Fabric& fabric = (*interconnect)->fabric();
  const std::string part = fabric.device(fabric.gpu(0)).part;
  const auto compute = state_->compute.gpu(state_->inputs.catalogue().parts(), part);
  if (!compute) return give_up(compute.error());
  const double memory = usable_memory(*state_->inputs.catalogue().parts().gpu(part));

  ServeJob job;
  job.model = *transformer;
  job.precision = run.precision;
  job.kv_precision = usual_kv(run);
  job.input = run.input;
  job.output = run.output;
  job.cached = run.cached;
  job.software = software;
  const auto worker = [&](const ServeLayout& layout) {
    return ServeWorker::create(job, layout, **interconnect, *compute, memory);
  };
  const auto first = worker(run.layout);
  if (!first) return give_up(first.error());
  const double concurrency =
      run.concurrency > 0 ? run.concurrency : std::max(1.0, most_concurrent(job, *first));
  Result<ServeEstimate> estimate = serve_closed(job, *first, concurrency);
  if (run.decode) {
    const auto second = worker(*run.decode);
    if (!second) return give_up(second.error());
    const auto transfer =
        (*interconnect)
            ->curve(
                Collective::sendrecv,
                {{2, 1}, {std::min(run.layout.worker_gpus(), (*interconnect)->ranks() - 1), 1}});
    if (!transfer) return give_up(transfer.error());
    estimate = serve_disaggregated(job, *first, *second, **transfer, concurrency);
  }
  if (!estimate) return give_up(estimate.error());
  double measured = run.tokens_per_second / run.platform.gpus;
  if (run.tpot && run.ttft) {
    score.ttft = estimate->ttft / run.ttft->seconds();
    score.tpot = estimate->tpot / run.tpot->seconds();
    measured = run.concurrency * run.output /
               (run.ttft->seconds() + (run.output - 1) * run.tpot->seconds()) / run.platform.gpus;
  }
  score.throughput = estimate->output_per_gpu / measured;
  score.roofline = roofline_rate(job, *compute, run.platform.gpus, concurrency) / measured;
  return score;
}

}  // namespace isleway::plan
