#include "isleway/plan/serve_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isleway::plan {
namespace {

/// Workers of prefill and of decode from which pairs are made: the best few of each are enough,
/// since both are ordered by what they do for a GPU.
constexpr std::size_t kMostPairedLayouts = 6;
constexpr int kMostStages = 16;
/// Loads that are tried grow by this factor.
constexpr double kLoadFactor = 2;
/// More load must give so much more throughput: a queue that only grows is of no use.
constexpr double kWorthIt = 1.01;

std::vector<int> divisors(int whole) {
  std::vector<int> all;
  for (int d = 1; d <= whole; ++d)
    if (whole % d == 0) all.push_back(d);
  return all;
}

/// Sizes of a worker: those that divide the machine, and powers of two that leave some idle.
std::vector<int> worker_sizes(int gpus) {
  std::vector<int> sizes = divisors(gpus);
  for (int size = 1; size <= gpus; size *= 2) sizes.push_back(size);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

class ServeSearch {
 public:
  ServeSearch(const ServeJob& job, const ServeGoal& goal, const Interconnect& interconnect,
              const ComputeModel& compute, double memory)
      : job_(job), goal_(goal), net_(interconnect), compute_(compute), memory_(memory) {}

  Result<ServePlan> run();

 private:
  void enumerate();
  void add(const ServeLayout& layout);
  void reject(const ServeLayout& layout, std::string why);
  void price(double most, const std::function<Result<ServeEstimate>(double)>& closed);
  void pair_workers();
  void keep_front();
  bool meets(const ServeEstimate& estimate) const;
  Result<ServePlan> fail_with_reasons() const;

  const ServeJob& job_;
  const ServeGoal& goal_;
  const Interconnect& net_;
  const ComputeModel& compute_;
  double memory_;
  ServePlan plan_;
  std::vector<ServeWorker> workers_;
  std::vector<ServeEstimate> all_;
  std::optional<ServeEstimate> nearest_;  ///< to a goal that nothing meets
};

void ServeSearch::reject(const ServeLayout& layout, std::string why) {
  for (ServePlan::Rejected& rejected : plan_.rejected)
    if (rejected.why == why) return void(++rejected.count);
  plan_.rejected.push_back({short_text(layout), std::move(why)});
}

void ServeSearch::add(const ServeLayout& layout) {
  ++plan_.tried;
  auto worker = ServeWorker::create(job_, layout, net_, compute_, memory_);
  if (!worker) return reject(layout, worker.error().what);
  if (worker->memory().requests() < 1) {
    const ServeMemory& m = worker->memory();
    constexpr double kGiga = 1e9;
    return reject(layout,
                  fmt::format("GPUs a worker: {}; {:.0f} GB of weights each leave {:.1f} GB "
                              "of {:.0f} for requests of {:.2f} GB",
                              layout.worker_gpus(), m.weights / kGiga, m.cache / kGiga,
                              m.capacity / kGiga, m.sequence / kGiga));
  }
  if (!plan_.smallest || layout.worker_gpus() < plan_.smallest->worker_gpus()) {
    plan_.smallest = layout;
    plan_.smallest->workers = 1;
  }
  workers_.push_back(std::move(*worker));
}

void ServeSearch::enumerate() {
  if (goal_.layout) return add(*goal_.layout);
  const int gpus = net_.ranks();
  const bool experts = job_.model.has_experts();
  const std::int64_t layers = job_.model.layer_count();
  for (const int size : worker_sizes(gpus))
    for (const int pipeline : divisors(size)) {
      if (pipeline > kMostStages || pipeline > layers) continue;
      const int stage = size / pipeline;
      for (const int tensor : divisors(stage)) {
        ServeLayout layout;
        layout.tensor = tensor;
        layout.data = stage / tensor;
        layout.pipeline = pipeline;
        layout.workers = gpus / size;
        if (layout.data > 1 && !experts) continue;  // the same as more workers
        add(layout);
        if (!experts || stage == 1) continue;
        layout.expert = stage;
        add(layout);
      }
    }
}

bool ServeSearch::meets(const ServeEstimate& e) const {
  return (goal_.most_ttft <= 0 || e.ttft <= goal_.most_ttft) &&
         (goal_.most_tpot <= 0 || e.tpot <= goal_.most_tpot) &&
         (goal_.rate <= 0 || e.requests_per_second >= goal_.rate * 0.999);
}

void ServeSearch::price(double most, const std::function<Result<ServeEstimate>(double)>& closed) {
  std::vector<ServeEstimate> loads;
  if (goal_.concurrency > 0) {
    if (auto now = closed(goal_.concurrency)) loads.push_back(std::move(*now));
  } else if (goal_.rate > 0) {
    if (auto now = serve_open(goal_.rate, most, closed)) loads.push_back(std::move(*now));
    else if (auto best = closed(most)) loads.push_back(std::move(*best));
  } else {
    for (double load = 1;; load *= kLoadFactor) {
      const double now = std::min(load, std::max(1.0, most));
      if (auto estimate = closed(now)) loads.push_back(std::move(*estimate));
      if (now < load || load >= most) break;
    }
  }
  const ServeEstimate* best = nullptr;
  for (const ServeEstimate& e : loads) {
    if (!meets(e)) {
      const bool nearer =
          !nearest_ || (goal_.rate > 0 ? e.requests_per_second > nearest_->requests_per_second
                                       : e.tpot < nearest_->tpot);
      if (nearer) nearest_ = e;
      continue;
    }
    all_.push_back(e);
    if (best == nullptr || e.output_per_gpu > kWorthIt * best->output_per_gpu) best = &e;
  }
  if (best != nullptr) plan_.layouts.push_back(*best);
}

void ServeSearch::pair_workers() {
  // By requests a second and GPU, that is what each would do alone.
  struct Side {
    const ServeWorker* worker;
    double rate;
  };
  std::vector<Side> first, second;
  for (const ServeWorker& worker : workers_) {
    const ServeLayout& l = worker.layout();
    first.push_back({&worker, l.data * l.pipeline / worker.prefill_seconds() / l.worker_gpus()});
    const double batch = std::max(
        1.0, std::min(std::floor(worker.memory().requests()), double(job_.most_sequences)));
    const double step = worker.step(batch / l.pipeline, job_.input + job_.output / 2).total();
    second.push_back({&worker, batch * l.data / (step * job_.output) / l.worker_gpus()});
  }
  for (std::vector<Side>* sides : {&first, &second}) {
    std::stable_sort(sides->begin(), sides->end(),
                     [](const Side& a, const Side& b) { return a.rate > b.rate; });
    if (sides->size() > kMostPairedLayouts) sides->resize(kMostPairedLayouts);
  }
  for (const Side& p : first)
    for (const Side& d : second) {
      const int gpus = net_.ranks();
      const int p_gpus = p.worker->layout().worker_gpus(),
                d_gpus = d.worker->layout().worker_gpus();
      if (p_gpus + d_gpus > gpus) continue;
      // As many of each as keep one another busy.
      const double share = d.rate / (p.rate + d.rate);
      const int prefills =
          std::clamp(int(std::lround(gpus * share / p_gpus)), 1, (gpus - d_gpus) / p_gpus);
      const int decodes = (gpus - prefills * p_gpus) / d_gpus;
      ServeLayout a = p.worker->layout(), b = d.worker->layout();
      a.workers = prefills;
      b.workers = decodes;
      const auto prefill = ServeWorker::create(job_, a, net_, compute_, memory_);
      const auto decode = ServeWorker::create(job_, b, net_, compute_, memory_);
      const auto transfer = net_.curve(Collective::sendrecv, {{2, 1}, {a.gpus(), 1}});
      if (!prefill || !decode || !transfer) continue;
      ++plan_.tried;
      price(most_concurrent(job_, *decode), [&](double concurrency) {
        return serve_disaggregated(job_, *prefill, *decode, **transfer, concurrency);
      });
    }
}

void ServeSearch::keep_front() {
  std::stable_sort(all_.begin(), all_.end(), [](const ServeEstimate& a, const ServeEstimate& b) {
    return a.tpot != b.tpot ? a.tpot < b.tpot : a.output_per_gpu > b.output_per_gpu;
  });
  double most = 0;
  for (const ServeEstimate& e : all_) {
    if (e.output_per_gpu <= kWorthIt * most) continue;
    most = e.output_per_gpu;
    plan_.front.push_back(e);
  }
  std::stable_sort(plan_.layouts.begin(), plan_.layouts.end(),
                   [&](const ServeEstimate& a, const ServeEstimate& b) {
                     if (goal_.concurrency > 0 || goal_.rate > 0)
                       return a.ttft + job_.output * a.tpot < b.ttft + job_.output * b.tpot;
                     return a.output_per_gpu > b.output_per_gpu;
                   });
}

Result<ServePlan> ServeSearch::fail_with_reasons() const {
  if (goal_.layout && !plan_.rejected.empty()) {
    auto worker = ServeWorker::create(job_, *goal_.layout, net_, compute_, memory_);
    if (!worker) return tl::unexpected(worker.error());
  }
  if (nearest_)
    return fail(
        fmt::format("no layout does what is asked (GPUs: {})", net_.ranks()),
        "less load, looser limits, or more GPUs",
        fmt::format("nearest: {}{} at {:.2f} requests/s, {:.0f} ms to the first token, {:.1f} ms "
                    "between tokens",
                    short_text(nearest_->layout),
                    nearest_->decode ? " and " + short_text(*nearest_->decode) : "",
                    nearest_->requests_per_second, nearest_->ttft * 1e3, nearest_->tpot * 1e3));
  // Memory shrinks with GPUs until what is replicated is left; say how many would do.
  const auto p = model::parameters(job_.model);
  const double bytes = double(p.total()) * model::bytes_per_element(job_.precision) +
                       model::kv_bytes(job_.model, job_.input + job_.output, 1,
                                       model::bytes_per_element(job_.kv_precision));
  const double room = memory_ * job_.memory_share - 4e9;
  std::string why = plan_.rejected.empty() ? "" : plan_.rejected.back().why;
  return fail(
      fmt::format("{} in {} fits no layout of {} GPUs of {:.0f} GB", job_.model.name,
                  model::name_of(job_.precision), net_.ranks(), memory_ * 1e-9),
      room > 0 ? fmt::format("about {:.0f} such GPUs", std::ceil(bytes / room)) : "larger GPUs",
      why);
}

Result<ServePlan> ServeSearch::run() {
  enumerate();
  for (const ServeWorker& worker : workers_) {
    if (goal_.decode) break;
    price(most_concurrent(job_, worker),
          [&](double concurrency) { return serve_closed(job_, worker, concurrency); });
  }
  if (goal_.decode && goal_.layout && !workers_.empty()) {
    const ServeWorker prefill = workers_.front();
    const auto decode = ServeWorker::create(job_, *goal_.decode, net_, compute_, memory_);
    if (!decode) return tl::unexpected(decode.error());
    const int gpus = goal_.layout->gpus() + goal_.decode->gpus();
    if (gpus > net_.ranks())
      return fail(
          fmt::format("prefill and decode take {} GPUs, the machine has {}", gpus, net_.ranks()));
    const auto transfer = net_.curve(Collective::sendrecv, {{2, 1}, {goal_.layout->gpus(), 1}});
    if (!transfer) return tl::unexpected(transfer.error());
    price(most_concurrent(job_, *decode), [&](double concurrency) {
      return serve_disaggregated(job_, prefill, *decode, **transfer, concurrency);
    });
  } else if (goal_.disaggregate && !goal_.layout && net_.ranks() > 1) {
    pair_workers();
  }
  if (plan_.layouts.empty()) return fail_with_reasons();
  keep_front();
  return std::move(plan_);
}

}  // namespace

Result<ServePlan> plan_serving(const ServeJob& job, const ServeGoal& goal,
                               const Interconnect& interconnect, const ComputeModel& compute,
                               double gpu_memory) {
  return ServeSearch(job, goal, interconnect, compute, gpu_memory).run();
}

}  // namespace isleway::plan
