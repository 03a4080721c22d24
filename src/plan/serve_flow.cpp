// Requests that flow through workers: batches, queues, the steady state.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isleway/plan/serve.hpp"

namespace isleway::plan {
namespace {

constexpr int kRounds = 60;

/// Requests that one rank's memory and scheduler let run at once.
double slots(const ServeJob& job, const ServeWorker& worker) {
  return std::min(std::floor(worker.memory().requests()), double(job.most_sequences));
}

Error too_small(const ServeWorker& worker) {
  const ServeMemory& m = worker.memory();
  constexpr double kGiga = 1e9;
  return fail(fmt::format("{} does not fit: weights {:.1f} GB, activations {:.1f} GB and {:.1f} GB "
                          "besides leave {:.1f} GB for requests of {:.2f} GB each",
                          short_text(worker.layout()), m.weights / kGiga, m.activations / kGiga,
                          m.overhead / kGiga, m.cache / kGiga, m.sequence / kGiga),
              fmt::format("GPUs of {:.0f} GB", m.capacity / kGiga),
              "more GPUs a worker, a narrower format, shorter requests")
      .value();
}

/// What the largest part of a step stands for.
void name_ceiling(ServeEstimate& estimate, const ServeWorker& worker) {
  const StepTime& s = estimate.step;
  struct Candidate {
    double seconds;
    const char* text;
    bool link;
  };
  const Candidate all[] = {
      {s.gemm, "reading weights and multiplying them", false},
      {s.attention, "reading keys and values", false},
      {s.other, "small kernels", false},
      {s.tensor, "all-reduces of tensor parallelism", true},
      {s.experts, "tokens on their way to experts", true},
      {s.pipeline, "hand-over between pipeline stages", true},
      {s.host, "the host's work between steps", false},
  };
  const Candidate* worst = std::max_element(
      std::begin(all), std::end(all),
      [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  estimate.ceiling = estimate.cache_full ? "memory for keys and values" : worst->text;
  if (worst->link && !estimate.cache_full) estimate.link = worker.bottleneck();
}

void finish(ServeEstimate& estimate, const ServeJob& job, double concurrency) {
  const double each = estimate.ttft + std::max(0.0, job.output - 1) * estimate.tpot;
  estimate.concurrency = concurrency;
  estimate.requests_per_second = each > 0 ? concurrency / each : 0;
  estimate.output_per_second = estimate.requests_per_second * job.output;
  estimate.output_per_gpu = estimate.output_per_second / estimate.gpus;
}

}  // namespace

double most_concurrent(const ServeJob& job, const ServeWorker& worker) {
  return std::max(0.0, slots(job, worker)) * worker.layout().workers * worker.layout().data;
}

Result<ServeEstimate> serve_closed(const ServeJob& job, const ServeWorker& worker,
                                   double concurrency) {
  const ServeLayout& layout = worker.layout();
  const double room = slots(job, worker);
  if (room < 1) return tl::unexpected(too_small(worker));
  const double data = layout.data, stages = layout.pipeline;
  const double each = concurrency / (layout.workers * data);  ///< requests of a rank
  const double running = std::max(std::min(each, room), std::min(1.0, concurrency));
  const double batch = std::max(1.0, running / stages);
  const double context = job.input + job.output / 2;

  ServeEstimate estimate;
  estimate.layout = layout;
  estimate.gpus = layout.gpus();
  estimate.memory = worker.memory();
  estimate.cache_full = each > room;
  estimate.step = worker.step(batch, context);
  estimate.prefill = worker.prefill_seconds();
  const double step = estimate.step.total();

  // Every other request's prefill holds up a token once in `output` steps. The ranks of a
  // worker step together; prefills that fall into one step hold it up once.
  const double mine = std::max(0.0, running * data - 1) / data / job.output;
  const double chance = mine >= 1 ? mine : 1 - std::pow(1 - mine, data);
  const double stalls = chance + job.software.together * (mine - chance);
  estimate.tpot = step + stalls * estimate.prefill / stages;

  const double busy = std::min(0.95, mine * estimate.prefill / stages / estimate.tpot);
  const double queue =
      (busy + job.software.arrivals * (running - 1) / 2) * estimate.prefill / stages;
  estimate.ttft = job.software.request * 1e-6 + step / 2 + estimate.prefill + std::max(0.0, queue);
  if (estimate.cache_full) {
    const double served = estimate.ttft + job.output * estimate.tpot;
    estimate.ttft += (each - running) / running * served;
  }
  estimate.running = running * data * layout.workers;
  finish(estimate, job, concurrency);
  name_ceiling(estimate, worker);
  return estimate;
}

Result<ServeEstimate> serve_disaggregated(const ServeJob& job, const ServeWorker& prefill,
                                          const ServeWorker& decode, const CostCurve& transfer,
                                          double concurrency) {
  const double room = slots(job, decode);
  if (room < 1) return tl::unexpected(too_small(decode));
  if (prefill.memory().cache <= 0) return tl::unexpected(too_small(prefill));
  const ServeLayout &first = prefill.layout(), &second = decode.layout();
  const double servers = double(first.workers) * first.data * first.pipeline;
  const double ranks = double(second.workers) * second.data;
  const double context = job.input + job.output / 2;
  const double service = prefill.prefill_seconds();
  const double sent = model::kv_bytes(job.model, job.input, first.tensor,
                                      model::bytes_per_element(job.kv_precision)) /
                      first.pipeline;
  const double handover = transfer.seconds(sent);

  ServeEstimate estimate;
  estimate.layout = first;
  estimate.decode = second;
  estimate.gpus = first.gpus() + second.gpus();
  estimate.memory = decode.memory();
  estimate.prefill = service;
  estimate.transfer = handover;

  const auto decode_step = [&](double decoding) {
    const double each = std::min(decoding / ranks, room);
    return decode.step(std::max(1.0, each / second.pipeline), context);
  };
  // A closed network of two stations (mean value analysis, Schweitzer's approximation): the
  // prefilling ranks are a queue, decoding takes as long as the batch that is there.
  double at_prefill = 0;
  double ttft = 0, tpot = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double decoding = std::max(std::min(1.0, concurrency), concurrency - at_prefill);
    tpot = decode_step(decoding).total();
    const double met = at_prefill * std::max(0.0, concurrency - 1) / std::max(1.0, concurrency);
    const double queue =
        std::max(0.0, met - (servers - 1)) / servers * service +
        job.software.arrivals * std::max(0.0, concurrency / servers - 1) / 2 * service;
    ttft = job.software.request * 1e-6 + service + queue + handover + tpot;
    const double whole = ttft + job.output * tpot;
    const double now = concurrency * (ttft - handover - tpot) / whole;
    at_prefill = (at_prefill + now) / 2;
  }
  const double decoding = std::max(std::min(1.0, concurrency), concurrency - at_prefill);
  estimate.cache_full = decoding / ranks > room;
  estimate.step = decode_step(decoding);
  estimate.tpot = tpot;
  estimate.ttft = ttft;
  estimate.running = std::min(decoding, room * ranks);
  if (estimate.cache_full)
    estimate.ttft += (decoding / (room * ranks) - 1) * job.output * estimate.tpot;
  finish(estimate, job, concurrency);
  name_ceiling(estimate, decode);
  // Prefill that is busy nearly all the time decides, whatever a decoding step is made of.
  if (estimate.requests_per_second * service / servers > 0.9) {
    estimate.ceiling = "prefill workers";
    estimate.link.clear();
  }
  return estimate;
}

std::optional<ServeEstimate> serve_open(
    double rate, double most, const std::function<Result<ServeEstimate>(double)>& closed) {
  double low = 0, high = std::max(1.0, most);
  auto best = closed(high);
  if (!best || best->requests_per_second < rate) return std::nullopt;
  for (int round = 0; round < kRounds && high - low > 1e-3 * high; ++round) {
    const double middle = (low + high) / 2;
    auto now = closed(middle);
    if (now && now->requests_per_second >= rate) {
      high = middle;
      best = std::move(now);
    } else {
      low = middle;
    }
  }
  return *best;
}

}  // namespace isleway::plan
