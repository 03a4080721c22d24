#include "isleway/plan/train_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "isleway/core/parallel.hpp"
#include "plan/train_space.hpp"
#include "plan/train_state.hpp"

namespace isleway::plan {
namespace {

constexpr std::size_t kPerWay = 3;
constexpr std::size_t kCrowd = 256;  // estimates kept before they are thinned out
constexpr std::size_t kExact = 8;    // for each that is asked for, priced exactly

bool faster(const TrainEstimate& a, const TrainEstimate& b) {
  if (a.step != b.step) return a.step < b.step;
  return full_text(a.layout) < full_text(b.layout);
}

/// Layouts that divide the model in the same way; of these only the best is worth showing.
std::array<int, 6> way(const TrainLayout& layout) {
  return {layout.tensor,        layout.context,  layout.expert,
          layout.expert_tensor, layout.pipeline, layout.sharding == Sharding::parameters};
}

void keep_best_of_each_way(std::vector<TrainEstimate>& estimates) {
  std::sort(estimates.begin(), estimates.end(), faster);
  std::vector<std::array<int, 6>> seen;
  std::erase_if(estimates, [&](const TrainEstimate& estimate) {
    const auto key = way(estimate.layout);
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) return true;
    seen.push_back(key);
    return false;
  });
}

/// The fastest few of each way: the formula's order is not quite that of the exact price.
void thin_out(std::vector<TrainEstimate>& estimates) {
  std::sort(estimates.begin(), estimates.end(), faster);
  std::map<std::array<int, 6>, std::size_t> kept;
  std::erase_if(estimates, [&](const TrainEstimate& estimate) {
    return ++kept[way(estimate.layout)] > kPerWay;
  });
}

/// What one division gave.
struct Found {
  std::vector<TrainEstimate> best;
  std::optional<TrainEstimate> nearest;
  Rejections rejections;
  std::size_t considered = 0, priced = 0, fitting = 0;
};

Found search_division(const TrainModel& model, const Division& division,
                      const SearchOptions& options) {
  Found found;
  const int ranks = model.interconnect().ranks();
  for_each_layout(model.job(), ranks, division, options, found.rejections,
                  [&](const TrainLayout& layout) {
                    ++found.considered;
                    auto estimate = model.price(layout, false);
                    if (!estimate) {
                      found.rejections.add(estimate.error().what, layout);
                      return;
                    }
                    ++found.priced;
                    if (!estimate->fits()) {
                      found.rejections.add("does not fit into the GPU's memory", layout);
                      if (!found.nearest || estimate->needed < found.nearest->needed)
                        found.nearest = std::move(*estimate);
                      return;
                    }
                    ++found.fitting;
                    found.best.push_back(std::move(*estimate));
                    if (found.best.size() >= kCrowd) thin_out(found.best);
                  });
  thin_out(found.best);
  return found;
}

constexpr std::array<Order, 4> kOtherOrders = {{
    {Dimension::tensor, Dimension::context, Dimension::expert, Dimension::pipeline,
     Dimension::data},
    {Dimension::tensor, Dimension::context, Dimension::pipeline, Dimension::expert,
     Dimension::data},
    {Dimension::context, Dimension::tensor, Dimension::expert, Dimension::data,
     Dimension::pipeline},
    {Dimension::tensor, Dimension::pipeline, Dimension::context, Dimension::expert,
     Dimension::data},
}};

/// The same layout with its ranks placed otherwise, where that gains more than noise.
void try_other_orders(const TrainModel& model, TrainEstimate& estimate) {
  constexpr double kWorthwhile = 0.995;
  for (const Order& order : kOtherOrders) {
    TrainLayout layout = estimate.layout;
    layout.order = order;
    auto other = model.price(layout, true);
    if (other && other->step < estimate.step.scaled(kWorthwhile)) estimate = std::move(*other);
  }
}

}  // namespace

Result<SearchResult> search_layouts(const TrainModel& model, const SearchOptions& options) {
  Rejections rejections;
  const std::vector<Division> all =
      divisions(model.job(), model.interconnect().ranks(), options, rejections);
  std::vector<Found> found(all.size());
  parallel_for(
      all.size(), [&](std::size_t i) { found[i] = search_division(model, all[i], options); },
      options.threads);

  SearchResult result;
  std::vector<TrainEstimate> candidates;
  for (Found& one : found) {
    result.considered += one.considered;
    result.priced += one.priced;
    result.fitting += one.fitting;
    rejections.merge(one.rejections);
    std::move(one.best.begin(), one.best.end(), std::back_inserter(candidates));
    if (one.nearest && (!result.nearest || one.nearest->needed < result.nearest->needed))
      result.nearest = std::move(one.nearest);
  }
  result.rejected = rejections.sorted();
  if (result.priced == 0)
    return fail("no layout of this job can be priced",
                "a batch, a model and a number of GPUs that divide",
                result.rejected.empty() ? "" : result.rejected.front().reason);
  std::sort(candidates.begin(), candidates.end(), faster);
  if (candidates.size() > kExact * options.top) candidates.resize(kExact * options.top);
  std::vector<std::optional<TrainEstimate>> exact(candidates.size());
  parallel_for(
      candidates.size(),
      [&](std::size_t i) {
        if (auto priced = model.price(candidates[i].layout, true)) exact[i] = std::move(*priced);
      },
      options.threads);
  for (auto& estimate : exact)
    if (estimate) result.best.push_back(std::move(*estimate));
  keep_best_of_each_way(result.best);
  if (result.best.size() > options.top) result.best.resize(options.top);
  if (options.all_orders)
    for (std::size_t i = 0; i < std::min<std::size_t>(3, result.best.size()); ++i)
      try_other_orders(model, result.best[i]);
  std::sort(result.best.begin(), result.best.end(), faster);
  if (!result.best.empty()) result.nearest.reset();
  return result;
}

std::optional<SmallestFit> smallest_fit(const TrainJob& job, const Parts& parts, double capacity,
                                        int domain, int most) {
  const auto constants = TrainingConstants::read(parts);
  if (!constants) return std::nullopt;
  SearchOptions options;
  for (int gpus = 1; gpus <= most; gpus *= 2) {
    std::optional<SmallestFit> fit;
    Rejections rejections;
    for (const Division& division : divisions(job, gpus, options, rejections)) {
      if (division.tensor > domain) continue;
      for_each_layout(job, gpus, division, options, rejections, [&](const TrainLayout& layout) {
        if (layout.recompute != model::Recompute::full || layout.micro_batch > 1) return;
        double needed = 0;
        const std::vector<StageGpus> alike(static_cast<std::size_t>(layout.pipeline));
        const auto stages = stage_costs(job, layout, layer_memory(job, layout), alike);
        for (const StageMemory& memory : train_memory(job, layout, stages, *constants))
          needed = std::max(needed, memory.total());
        if (!fit || needed < fit->needed) fit = SmallestFit{gpus, layout, needed};
      });
    }
    if (fit && fit->needed <= capacity) return fit;
  }
  return std::nullopt;
}

}  // namespace isleway::plan
