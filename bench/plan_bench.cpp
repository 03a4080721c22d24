// What a layout costs to price, and a search over all of a large job's layouts.
#include <benchmark/benchmark.h>

#include "isleway/plan.hpp"
#include "isleway/plan/slowest_gpu.hpp"
#include "isleway/plan/train_search.hpp"

namespace isleway::plan {
namespace {

const std::string kSource = ISLEWAY_SOURCE_DIR;

/// 405 billion weights on 16,384 H100, as Llama 3 was trained.
struct Job {
  Catalogue catalogue = Catalogue::open(kSource + "/machines").value();
  Interconnect interconnect{catalogue.fabric("dgx-h100*2048", "ndr400-fat-tree-3").value(),
                            catalogue.parts()};
  SlowestGpu gpu =
      slowest_gpu(interconnect.fabric(),
                  ComputeCatalogue::open(catalogue.folder() / "compute").value(), catalogue.parts())
          .value();

  TrainModel model() const {
    Notices notices;
    TrainJob job;
    job.model = model::ModelCatalogue::open(kSource + "/models")
                    .value()
                    .find("llama-3.1-405b", notices)
                    .value();
    job.sequence = 8192;
    job.global_batch = 2048;
    return {std::move(job), interconnect, gpu.compute, catalogue.parts(), gpu.memory};
  }
};

const Job& job() {
  static const Job job;
  return job;
}

void price(benchmark::State& state, bool exact) {
  const TrainModel model = job().model();
  const auto layout = parse_layout("tp=8,pp=16,vp=4,dp=128,mbs=1", 16384).value();
  for (auto unused : state) benchmark::DoNotOptimize(model.price(layout, exact));
}
BENCHMARK_CAPTURE(price, ranking, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(price, exact, true)->Unit(benchmark::kMicrosecond);

/// From nothing: groups' curves are made anew. Layouts a second are those that were looked at.
void search(benchmark::State& state) {
  SearchOptions options;
  options.all_schedules = true;
  double considered = 0;
  for (auto unused : state) {
    const Job fresh;
    const auto found = search_layouts(fresh.model(), options);
    considered += static_cast<double>(found->considered);
  }
  state.counters["layouts"] = considered / static_cast<double>(state.iterations());
}
BENCHMARK(search)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace isleway::plan
