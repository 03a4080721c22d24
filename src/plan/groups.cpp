#include "plan/groups.hpp"

#include <algorithm>

namespace isleway::plan {
namespace {

int size_of(const TrainLayout& layout, Dimension dimension) {
  switch (dimension) {
    case Dimension::tensor: return layout.tensor;
    case Dimension::context: return layout.context;
    case Dimension::data: return layout.data;
    case Dimension::pipeline: return layout.pipeline;
    case Dimension::expert: return 1;  // inside the others
  }
  return 1;
}

int place_of(const Order& order, Dimension dimension) {
  return static_cast<int>(std::find(order.begin(), order.end(), dimension) - order.begin());
}

/// Ranks between neighbours along a dimension.
int stride_of(const TrainLayout& layout, Dimension dimension) {
  int stride = 1;
  for (const Dimension inner : layout.order) {
    if (inner == dimension) break;
    stride *= size_of(layout, inner);
  }
  return stride;
}

GroupShape along(const TrainLayout& layout, Dimension dimension) {
  return {{size_of(layout, dimension), 1}, {stride_of(layout, dimension), 1}};
}

/// `count` ranks `stride` apart among those of one pipeline stage, counted from the inside.
/// A stage's ranks come in runs of `run`, `run` x pipeline apart.
GroupShape within_stage(const TrainLayout& layout, int count, int stride) {
  const int run = stride_of(layout, Dimension::pipeline);
  const int extent = count * stride;
  if (extent <= run || layout.pipeline == 1) return {{count, 1}, {stride, 1}};
  if (stride >= run) return {{count, 1}, {stride * layout.pipeline, 1}};
  return {{run / stride, extent / run}, {stride, run * layout.pipeline}};
}

/// Data and context ranks together. They are neighbours in most orders.
GroupShape gradients(const TrainLayout& layout) {
  const GroupShape context = along(layout, Dimension::context);
  const GroupShape data = along(layout, Dimension::data);
  if (layout.context == 1) return data;
  if (layout.data == 1) return context;
  const bool context_first =
      place_of(layout.order, Dimension::context) < place_of(layout.order, Dimension::data);
  const GroupShape& inner = context_first ? context : data;
  const GroupShape& outer = context_first ? data : context;
  if (outer.stride[0] == inner.stride[0] * inner.count[0])
    return {{inner.count[0] * outer.count[0], 1}, inner.stride};
  return {{inner.count[0], outer.count[0]}, {inner.stride[0], outer.stride[0]}};
}

/// The first `inner` ranks of a group, and those that stand at the same place in each such part.
std::pair<GroupShape, GroupShape> parted(const GroupShape& whole, int inner) {
  if (inner <= 0 || inner >= whole.ranks()) return {whole, {}};
  if (inner <= whole.count[0])
    return {{{inner, 1}, {whole.stride[0], 1}},
            {{whole.count[0] / inner, whole.count[1]}, {whole.stride[0] * inner, whole.stride[1]}}};
  return {{{whole.count[0], inner / whole.count[0]}, whole.stride},
          {{whole.ranks() / inner, 1}, {whole.stride[1] * (inner / whole.count[0]), 1}}};
}

}  // namespace

Groups groups_of(const TrainLayout& layout) {
  Groups groups;
  groups.tensor = along(layout, Dimension::tensor);
  groups.context = along(layout, Dimension::context);
  groups.pipeline = along(layout, Dimension::pipeline);
  groups.data = gradients(layout);
  std::tie(groups.shards, groups.replicas) = parted(groups.data, layout.shard_group);
  const int expert_data = std::max(1, layout.expert_data());
  const bool data_first =
      place_of(layout.order, Dimension::data) < place_of(layout.order, Dimension::expert);
  const int inside = layout.expert_tensor;
  groups.expert_tensor = within_stage(layout, inside, 1);
  groups.expert = within_stage(layout, layout.expert, data_first ? inside * expert_data : inside);
  groups.expert_data =
      within_stage(layout, expert_data, data_first ? inside : inside * layout.expert);
  return groups;
}

}  // namespace isleway::plan
