#include "plan/train_traffic.hpp"

#include <algorithm>

namespace isleway::plan {
namespace {

constexpr double kBf16 = 2;

struct Kind {
  Part part;
  Passing LayerCost::*passing;
  GroupShape Groups::*group;
};

Collective collective_of(Part part, const TrainLayout& layout) {
  if (part == Part::tensor)
    return layout.sequence ? Collective::all_gather : Collective::all_reduce;
  if (part == Part::experts) return Collective::all_to_all;
  switch (layout.context_method) {
    case ContextMethod::ring: return Collective::sendrecv;
    case ContextMethod::all_gather: return Collective::all_gather;
    case ContextMethod::all_to_all: return Collective::all_to_all;
  }
  return Collective::sendrecv;
}

void describe(const GroupShape& group, Collective collective, const Interconnect& interconnect,
              TrafficRow& row) {
  row.group = group;
  row.collective = isleway::name_of(collective);
  const auto curve = interconnect.curve(collective, group);
  if (!curve) return;
  row.tier = (*curve)->tier;
  row.hosts = (*curve)->hosts;
  row.link = (*curve)->bottleneck;
}

/// Sums over the layers of the busiest rank's share of the model.
TrafficRow row_of(const Kind& kind, const TrainJob& job, const TrainLayout& layout,
                  const std::vector<LayerCost>& costs, const Interconnect& interconnect,
                  std::int64_t micro_batches) {
  TrafficRow row;
  row.part = kind.part;
  double seconds = 0, shown = 0, sent = 0;
  const auto add = [&](const LayerCost& cost) {
    const Passing& passing = cost.*kind.passing;
    seconds += passing.forward + passing.backward;
    shown += passing.shown_forward + passing.shown_backward;
    row.calls += passing.calls;
    row.bytes = std::max(row.bytes, passing.bytes);
    sent += passing.calls * passing.bytes;
  };
  for (const std::uint8_t layer : job.model.order) add(costs[layer]);
  for (const std::uint8_t layer : job.model.mtp_order) add(costs[layer]);
  add(costs.back());
  const double share = static_cast<double>(micro_batches) / layout.pipeline;
  const Collective collective = collective_of(kind.part, layout);
  const GroupShape group = groups_of(layout).*kind.group;
  describe(group, collective, interconnect, row);
  row.calls *= share;
  row.sent = sent * share * bus_factor(collective, group.ranks());
  row.time = Time::seconds(seconds * share);
  row.exposed = Time::seconds(shown * share);
  return row;
}

}  // namespace

double StageHop::shown(const Pipeline& pipeline) const {
  if (pipeline.ranks == 1) return 0;
  const double both_ways = 2 * seconds * static_cast<double>(pipeline.ranks - 1);
  if (!pipeline.blocks) return both_ways;
  return both_ways + 2 * seconds * static_cast<double>(pipeline.virtual_stages) *
                         static_cast<double>(pipeline.micro_batches);
}

Result<StageHop> stage_hop(const TrainJob& job, const TrainLayout& layout,
                           const Interconnect& interconnect) {
  StageHop hop;
  if (layout.pipeline == 1) return hop;
  const model::Work work = work_of(job, layout);
  hop.group = {{2, 1}, {groups_of(layout).pipeline.stride[0], 1}};
  // Without sequence parallelism, each tensor-parallel rank sends its part and they gather it
  // again (Megatron's scatter-gather optimization).
  hop.bytes = static_cast<double>(work.tokens * job.model.hidden) * kBf16 / layout.tensor;
  const auto curve = interconnect.curve(Collective::sendrecv, hop.group);
  if (!curve) return tl::unexpected(curve.error());
  hop.curve = *curve;
  hop.seconds = hop.curve->seconds(hop.bytes);
  return hop;
}

std::vector<TrafficRow> traffic_rows(const TrainJob& job, const TrainLayout& layout,
                                     const std::vector<LayerCost>& costs,
                                     const Interconnect& interconnect, const StageHop& hop,
                                     const Pipeline& pipeline) {
  std::vector<TrafficRow> rows;
  const std::array<Kind, 3> kinds = {{{Part::tensor, &LayerCost::tensor, &Groups::tensor},
                                      {Part::context, &LayerCost::context, &Groups::context},
                                      {Part::experts, &LayerCost::experts, &Groups::expert}}};
  for (const Kind& kind : kinds) {
    TrafficRow row = row_of(kind, job, layout, costs, interconnect, pipeline.micro_batches);
    if (row.calls > 0 && row.bytes > 0) rows.push_back(std::move(row));
  }
  if (hop.curve == nullptr) return rows;
  TrafficRow row;
  row.part = Part::pipeline;
  describe(hop.group, Collective::sendrecv, interconnect, row);
  row.bytes = hop.bytes;
  row.calls = 2 * static_cast<double>(pipeline.micro_batches) * layout.virtual_stages;
  row.sent = row.calls * row.bytes;
  row.time = Time::seconds(row.calls * hop.seconds);
  row.exposed = Time::seconds(hop.shown(pipeline));
  rows.push_back(std::move(row));
  return rows;
}

}  // namespace isleway::plan
