#include "isleway/plan/train_questions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "isleway/fabric/join.hpp"
#include "plan/layer_cost.hpp"

namespace isleway::plan {
namespace {

/// A copy in which links that `which` accepts are `factor` times as fast.
Result<Fabric> with_faster(const Fabric& fabric, double factor, bool network) {
  std::vector<std::shared_ptr<const Unit>> templates;
  for (const auto& unit : fabric.templates()) {
    UnitParts parts = unit->parts();
    for (Link& link : parts.links) {
      const bool nvlink = link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi;
      // A faster NIC needs a PCIe link that keeps up.
      const bool at_nic = link.kind == LinkKind::pcie;
      if (network ? at_nic : nvlink) link.link_rate = link.link_rate * factor;
    }
    for (Device& device : parts.devices)
      if (network && device.kind == DeviceKind::nic)
        std::get<NicInfo>(device.info).rate = device.nic().rate * factor;
    auto changed = Unit::make(std::move(parts));
    if (!changed) return tl::unexpected(changed.error());
    templates.push_back(*std::move(changed));
  }
  Fabric faster = fabric.with_units(std::move(templates), fabric.unit_templates());
  if (!network) return faster;
  return faster.with_network(fabric.network().changed(
      [&](std::vector<NetSwitch>&, std::vector<Link>& trunks, std::vector<NicAttachment>& cables) {
        for (Link& trunk : trunks) trunk.link_rate = trunk.link_rate * factor;
        for (NicAttachment& nic : cables) nic.cable.link_rate = nic.cable.link_rate * factor;
      }));
}

/// NVLink domains of as many hosts as make up to 72 GPUs and divide the machine.
Result<Fabric> with_wide_islands(const Fabric& fabric, int domain) {
  constexpr int kWidest = 72;
  const int units = static_cast<int>(fabric.unit_count());
  int hosts = std::max(1, kWidest / std::max(1, domain));
  while (hosts > 1 && units % hosts != 0) --hosts;
  if (hosts < 2) return fail("the machine is one such island already, or does not divide");
  return with_joined_hosts(fabric, hosts);
}

WhatIf priced(std::string change, Result<Fabric> fabric, const TrainModel& model,
              const std::vector<TrainEstimate>& layouts, const Parts& parts) {
  WhatIf answer;
  answer.change = std::move(change);
  if (!fabric) {
    answer.why_not = fabric.error().what;
    return answer;
  }
  const Interconnect interconnect(std::move(*fabric), parts);
  const TrainModel changed(model.job(), interconnect, model.compute(), parts, model.capacity(),
                           model.spread());
  for (const TrainEstimate& estimate : layouts) {
    const auto there = changed.price(estimate.layout, true);
    if (!there) {
      if (&estimate == &layouts.front()) answer.why_not = there.error().what;
      continue;
    }
    if (&estimate == &layouts.front()) answer.step = there->step;
    if (answer.best_step == Time() || there->step < answer.best_step) {
      answer.best_step = there->step;
      answer.best = estimate.layout;
    }
  }
  return answer;
}

}  // namespace

const TrafficRow* ceiling(const TrainEstimate& estimate) {
  const TrafficRow* most = nullptr;
  for (const TrafficRow& row : estimate.traffic)
    if (row.exposed > Time() && (most == nullptr || row.exposed > most->exposed)) most = &row;
  return most;
}

std::vector<WhatIf> what_ifs(const TrainModel& model, const std::vector<TrainEstimate>& layouts,
                             const Parts& parts) {
  if (layouts.empty()) return {};
  const Fabric& fabric = model.interconnect().fabric();
  std::vector<WhatIf> all;
  if (fabric.host_count() > 1)
    all.push_back(priced("NICs and network twice as fast", with_faster(fabric, 2, true), model,
                         layouts, parts));
  if (model.interconnect().has_nvlink())
    all.push_back(
        priced("NVLink twice as fast", with_faster(fabric, 2, false), model, layouts, parts));
  auto wide = with_wide_islands(fabric, model.interconnect().domain_size());
  if (wide) {
    const Interconnect interconnect(*wide, parts);
    all.push_back(priced(fmt::format("NVLink domains of {} GPUs", interconnect.domain_size()),
                         std::move(wide), model, layouts, parts));
  }
  return all;
}

std::vector<TensorStep> tensor_steps(const TrainModel& model, int micro_batch) {
  std::vector<TensorStep> steps;
  const TrainJob& job = model.job();
  const model::Mixer* attention = job.model.first_attention();
  const std::int64_t heads = attention != nullptr ? attention->heads : 64;
  for (int tensor = 2; tensor <= heads && tensor <= 128; tensor *= 2) {
    if (heads % tensor != 0) break;
    const model::Shard shard{tensor, 1, 1, true};
    model::Work work{job.sequence * micro_batch, micro_batch,
                     static_cast<double>(job.sequence) / 2};
    TensorStep step;
    step.tensor = tensor;
    // The kind that most layers are of.
    std::vector<std::size_t> counts(job.model.kinds.size());
    for (const std::uint8_t kind : job.model.order) ++counts[kind];
    const auto most =
        static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
    const model::Layer& layer = job.model.kinds[most];
    for (const model::Operation& op : model::operations(layer, job.model.hidden, shard, work))
      for (const bool backward : {false, true})
        step.compute += model.compute().operation(op, job.precision, backward);
    const model::LayerTraffic traffic = model::traffic(layer, job.model.hidden, shard, work);
    const double bytes = traffic.tensor * 2;
    const double calls = 2.0 * traffic.tensor_calls;
    const double moved = bytes * calls * bus_factor(Collective::all_reduce, tensor);
    step.needed = Rate::bytes_per_second(moved / step.compute.seconds());
    if (tensor <= model.interconnect().ranks()) {
      const auto curve = model.interconnect().curve(Collective::all_reduce, {{tensor, 1}, {1, 1}});
      if (curve) {
        step.traffic = Time::seconds(calls * (*curve)->seconds(bytes));
        step.available = Rate::bytes_per_second(moved / step.traffic.seconds());
      }
    }
    steps.push_back(step);
  }
  return steps;
}

int largest_tensor(const std::vector<TensorStep>& steps, Rate rate, int island, Rate way) {
  int largest = 1;
  for (const TensorStep& step : steps) {
    const Rate have =
        step.tensor <= island ? rate : std::min(rate, way * static_cast<double>(island));
    if (have < step.needed) break;
    largest = step.tensor;
  }
  return largest;
}

}  // namespace isleway::plan
