#include "report/train_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isleway::report {
namespace {

constexpr double kGib = 1073741824.0;

std::string gib(double bytes) { return fmt::format("{:.1f}", bytes / kGib); }

std::string amount(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.2f} GB", bytes * 1e-9);
  return bytes >= 1e6 ? fmt::format("{:.1f} MB", bytes * 1e-6)
                      : fmt::format("{:.1f} KB", bytes * 1e-3);
}

std::string percent(double share) { return fmt::format("{:.1f}%", share * 100); }

std::string tier_text(const plan::TrafficRow& row) {
  if (row.tier == LinkKind::network) return fmt::format("network, {} hosts", row.hosts);
  return name_of(row.tier);
}

std::string group_text(const plan::GroupShape& group) {
  std::string text = fmt::format("{}", group.ranks());
  if (group.stride[0] > 1) text += fmt::format(", stride {}", group.stride[0]);
  return text;
}

}  // namespace

std::string time_text(Time time) {
  const double seconds = time.seconds();
  if (seconds == 0) return "0";
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.3g} ms", seconds * 1e3)
                         : fmt::format("{:.3g} us", seconds * 1e6);
}

std::string table_text(const Table& table) {
  std::vector<std::size_t> widths;
  for (const std::string& cell : table.heading) widths.push_back(cell.size());
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  const auto line = [&](const std::vector<std::string>& row) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += "  ";
      text += i < table.texts ? fmt::format("{:{}}", row[i], widths[i])
                              : fmt::format("{:>{}}", row[i], widths[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line(table.heading);
  for (const auto& row : table.rows) text += line(row);
  return text;
}

Table layouts_table(const TrainAnswer& answer) {
  Table table{{"layout", "recompute", "step", "tok/s/GPU", "MFU", "exposed", "GiB/GPU"}, {}, 2};
  for (const plan::TrainEstimate& estimate : answer.search.best) {
    Time exposed;
    for (const plan::Part part : {plan::Part::tensor, plan::Part::context, plan::Part::experts,
                                  plan::Part::pipeline, plan::Part::data})
      exposed += estimate.parts[static_cast<std::size_t>(part)];
    table.rows.push_back(
        {plan::short_text(estimate.layout), model::name_of(estimate.layout.recompute),
         time_text(estimate.step), fmt::format("{:.0f}", estimate.tokens_per_gpu_second),
         percent(estimate.mfu), percent(exposed.seconds() / estimate.step.seconds()),
         gib(estimate.needed)});
  }
  return table;
}

Table parts_table(const plan::TrainEstimate& estimate) {
  Table table{{"part of a step", "time", "share"}, {}, 1};
  for (std::size_t i = 0; i < plan::kParts; ++i)
    if (estimate.parts[i] > Time())
      table.rows.push_back({name_of(static_cast<plan::Part>(i)), time_text(estimate.parts[i]),
                            percent(estimate.parts[i].seconds() / estimate.step.seconds())});
  return table;
}

Table memory_table(const plan::TrainEstimate& estimate) {
  Table table{{"stage", "layers", "weights", "gradients", "optimizer", "activations", "logits",
               "buffers", "GiB"},
              {},
              1};
  for (const plan::StageMemory& memory : estimate.memory)
    table.rows.push_back({fmt::format("{}", memory.stage), fmt::format("{}", memory.layers),
                          gib(memory.weights), gib(memory.gradients), gib(memory.optimizer),
                          gib(memory.activations), gib(memory.logits), gib(memory.buffers),
                          gib(memory.total())});
  return table;
}

Table traffic_table(const plan::TrainEstimate& estimate) {
  Table table{{"traffic", "collective", "tier", "group", "a call", "sent/GPU/step", "GB/s", "time",
               "exposed"},
              {},
              4};
  for (const plan::TrafficRow& row : estimate.traffic) {
    const double seconds = row.time.seconds();
    table.rows.push_back({name_of(row.part), row.collective, tier_text(row), group_text(row.group),
                          amount(row.bytes), amount(row.sent),
                          seconds > 0 ? fmt::format("{:.1f}", row.sent / seconds * 1e-9) : "-",
                          time_text(row.time), time_text(row.exposed)});
  }
  return table;
}

Table what_if_table(const TrainAnswer& answer) {
  Table table{{"change", "this layout", "gain", "best there", "gain"}, {}, 1};
  if (answer.search.best.empty()) return table;
  const double now = answer.search.best.front().step.seconds();
  const auto gain = [&](Time step) {
    return step > Time() ? fmt::format("{:+.1f}%", (now / step.seconds() - 1) * 100) : "-";
  };
  for (const plan::WhatIf& what : answer.what_ifs) {
    const bool impossible = what.step == Time();
    table.rows.push_back({what.change, impossible ? what.why_not : time_text(what.step),
                          impossible ? "-" : gain(what.step),
                          what.best_step == Time() ? "-" : plan::short_text(what.best),
                          what.best_step == Time() ? "-" : gain(what.best_step)});
  }
  return table;
}

Table tensor_table(const TrainAnswer& answer) {
  Table table{{"TP", "compute/layer", "traffic/layer", "needs GB/s", "has GB/s", "ceiling"}, {}, 1};
  for (const plan::TensorStep& step : answer.tensor_steps) {
    const bool known = !step.available.is_zero();
    table.rows.push_back({fmt::format("{}", step.tensor), time_text(step.compute),
                          known ? time_text(step.traffic) : "-",
                          fmt::format("{:.0f}", step.needed.GBs()),
                          known ? fmt::format("{:.0f}", step.available.GBs()) : "-",
                          !known                         ? "-"
                          : step.available < step.needed ? "network"
                                                         : "compute"});
  }
  return table;
}

Table island_table(const TrainAnswer& answer) {
  constexpr double kRates[] = {50, 100, 200, 400, 800, 1600};
  constexpr int kIslands[] = {1, 2, 4, 8, 16, 36, 72, 144};
  constexpr double kWay = 50;
  Table table{{"island"}, {}, 1};
  for (const double rate : kRates) table.heading.push_back(fmt::format("{:.0f} GB/s", rate));
  for (const int island : kIslands) {
    std::vector<std::string> row = {fmt::format("{} GPUs", island)};
    for (const double rate : kRates)
      row.push_back(fmt::format("{}", plan::largest_tensor(answer.tensor_steps, Rate::GBs(rate),
                                                           island, Rate::GBs(kWay))));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string ceiling_text(const plan::TrainEstimate& estimate) {
  const plan::TrafficRow* row = plan::ceiling(estimate);
  const double step = estimate.step.seconds();
  const double compute = estimate.parts[static_cast<std::size_t>(plan::Part::compute)].seconds();
  if (row == nullptr)
    return fmt::format("the GPUs' arithmetic ({} of a step)", percent(compute / step));
  return fmt::format("the GPUs' arithmetic ({} of a step); of the links {} ({}: {} of a step)",
                     percent(compute / step), row->link.empty() ? "none is known" : row->link,
                     name_of(row->part), percent(row->exposed.seconds() / step));
}

std::vector<std::string> cost_lines(const TrainAnswer& answer, const plan::TrainEstimate& best) {
  std::vector<std::string> lines;
  if (answer.price_per_gpu_hour <= 0) return lines;
  const double per_token = answer.price_per_gpu_hour / 3600 / best.tokens_per_gpu_second;
  lines.push_back(fmt::format("${:.4g} per million tokens at ${:.4g} per GPU-hour", per_token * 1e6,
                              answer.price_per_gpu_hour));
  if (answer.run_tokens > 0) {
    const double hours = answer.run_tokens / best.tokens_per_gpu_second / 3600;
    lines.push_back(fmt::format("{:.3g} tokens: {:.1f} days, {:.4g} GPU-hours, ${:.4g}",
                                answer.run_tokens, hours / best.layout.ranks() / 24, hours,
                                hours * answer.price_per_gpu_hour));
  }
  return lines;
}

}  // namespace isleway::report
