// Gradients and weights between data-parallel ranks.
#include <algorithm>

#include "plan/train_state.hpp"

namespace isleway::plan {
namespace {

constexpr double kBf16 = 2;

/// Prices calls of one group, and remembers the first error.
class Calls {
 public:
  explicit Calls(const Interconnect& interconnect) : interconnect_(interconnect) {}

  /// Seconds of one call. `row` is filled but for what is shown.
  double add(Collective collective, const GroupShape& group, double bytes, double calls,
             std::vector<TrafficRow>& rows) {
    if (group.ranks() < 2 || bytes <= 0) return 0;
    const auto curve = interconnect_.curve(collective, group);
    if (!curve) {
      if (!error_) error_ = curve.error();
      return 0;
    }
    const double once = (*curve)->seconds(bytes);
    TrafficRow row;
    row.part = Part::data;
    row.collective = isleway::name_of(collective);
    row.group = group;
    row.tier = (*curve)->tier;
    row.hosts = (*curve)->hosts;
    row.link = (*curve)->bottleneck;
    row.bytes = bytes;
    row.calls = calls;
    row.sent = bytes * calls * bus_factor(collective, group.ranks());
    row.time = Time::seconds(once * calls);
    rows.push_back(std::move(row));
    return once;
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const Interconnect& interconnect_;
  std::optional<Error> error_;
};

}  // namespace

Result<DataTraffic> data_traffic(const TrainJob& job, const TrainLayout& layout,
                                 const std::vector<StageCost>& stages,
                                 const Interconnect& interconnect,
                                 const TrainingConstants& constants) {
  DataTraffic traffic;
  if (gathers_layers(layout)) return traffic;
  const Groups groups = groups_of(layout);
  // The first rank's stages: their gradients are ready last.
  double dense = 0, experts = 0, forward = 0, backward = 0;
  for (int chunk = 0; chunk < layout.virtual_stages; ++chunk) {
    const StageCost& stage = stages[static_cast<std::size_t>(chunk * layout.pipeline)];
    dense += stage.dense_weights;
    experts += stage.expert_weights;
    forward += stage.forward;
    backward += stage.backward;
  }
  Calls calls(interconnect);
  double reduced = 0, gathered = 0;
  const auto exchange = [&](const GroupShape& group, double weights) {
    const double gradients = weights * job.framework.gradient_bytes;
    if (layout.sharding == Sharding::none) {
      reduced += calls.add(Collective::all_reduce, group, gradients, 1, traffic.rows);
      return;
    }
    reduced += calls.add(Collective::reduce_scatter, group, gradients, 1, traffic.rows);
    gathered += calls.add(Collective::all_gather, group, weights * kBf16, 1, traffic.rows);
  };
  exchange(groups.data, dense);
  exchange(groups.expert_data, experts);
  if (calls.error()) return tl::unexpected(*calls.error());
  traffic.time = reduced + gathered;
  traffic.shown = traffic.time;
  if (job.framework.data_overlap) {
    // Stages of one rank end one after the other, each beside the passes of the next.
    const std::int64_t micro_batches =
        job.global_batch / (std::int64_t{layout.data} * layout.micro_batch);
    const double beside =
        layout.virtual_stages > 1
            ? static_cast<double>(std::min<std::int64_t>(layout.pipeline, micro_batches))
            : 1;
    const double hidden = std::min(reduced, constants.data_hidden * backward * beside) +
                          std::min(gathered, constants.data_hidden * forward * beside);
    traffic.shown -= hidden;
    traffic.beside = hidden;
  }
  const double share = traffic.time > 0 ? traffic.shown / traffic.time : 0;
  for (TrafficRow& row : traffic.rows) row.exposed = row.time.scaled(share);
  return traffic;
}

Result<void> gather_layers(const TrainJob& job, const TrainLayout& layout,
                           const Interconnect& interconnect, const TrainingConstants& constants,
                           std::vector<LayerCost>& costs, DataTraffic& traffic) {
  if (!gathers_layers(layout)) return {};
  const Groups groups = groups_of(layout);
  const double micro_batches =
      static_cast<double>(job.global_batch / (std::int64_t{layout.data} * layout.micro_batch));
  std::vector<double> layers(costs.size(), 0);
  for (const std::uint8_t kind : job.model.order) ++layers[kind];
  for (const std::uint8_t kind : job.model.mtp_order) ++layers[kind];
  layers.back() = 1;
  Calls calls(interconnect);
  const double hidden_share = job.framework.data_overlap ? constants.data_hidden : 0;
  // Software that gathers nothing ahead does so matrix by matrix, when each is needed.
  constexpr double kMatrices = 4;
  const double pieces = job.framework.data_overlap ? 1 : kMatrices;
  for (std::size_t kind = 0; kind < costs.size(); ++kind) {
    LayerCost& cost = costs[kind];
    const std::size_t first = traffic.rows.size();
    const auto each = [&](Collective collective, double passes, double bytes_per_weight) {
      const double times = passes * pieces * layers[kind] * micro_batches;
      const double bytes = bytes_per_weight / pieces;
      return pieces * (calls.add(collective, groups.shards, cost.dense_weights * bytes, times,
                                 traffic.rows) +
                       calls.add(collective, groups.expert_data, cost.expert_weights * bytes, times,
                                 traffic.rows));
    };
    const double forward = each(Collective::all_gather, 1, kBf16);
    const double backward = each(Collective::all_gather, 1, kBf16) +
                            each(Collective::reduce_scatter, 1, job.framework.gradient_bytes);
    if (groups.replicas.ranks() > 1)
      calls.add(Collective::all_reduce, groups.replicas,
                cost.dense_weights * job.framework.gradient_bytes / groups.shards.ranks(),
                layers[kind], traffic.rows);
    const double beside_forward = std::min(forward, hidden_share * cost.whole_forward());
    const double beside_backward = std::min(backward, hidden_share * cost.whole_backward());
    cost.gather_forward = forward - beside_forward + constants.beside * beside_forward;
    cost.gather_backward = backward - beside_backward + constants.beside * beside_backward;
    const double all = forward + backward;
    const double share = all > 0 ? (cost.gather_forward + cost.gather_backward) / all : 0;
    for (std::size_t i = first; i < traffic.rows.size(); ++i)
      traffic.rows[i].exposed = traffic.rows[i].time.scaled(share);
    traffic.time += all * layers[kind] * micro_batches;
  }
  if (calls.error()) return tl::unexpected(*calls.error());
  return {};
}

}  // namespace isleway::plan
