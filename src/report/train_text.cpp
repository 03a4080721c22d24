#include <fmt/format.h>

#include "report/train_rows.hpp"

namespace isleway::report {
namespace {

constexpr double kGib = 1073741824.0;

std::string heading(const TrainAnswer& answer) {
  const plan::TrainJob& job = answer.model.job();
  return fmt::format("{} on {}: {} GPUs, {} sequences of {} tokens a step, {}\n", job.model.name,
                     answer.machine, answer.model.interconnect().ranks(), job.global_batch,
                     job.sequence, name_of(job.precision));
}

std::string nothing_fits(const TrainAnswer& answer) {
  std::string text = "no layout fits into memory";
  if (answer.search.nearest)
    text += fmt::format(
        "; the nearest needs {:.1f} of {:.1f} GiB: {}", answer.search.nearest->needed / kGib,
        answer.search.nearest->capacity / kGib, plan::short_text(answer.search.nearest->layout));
  return text + "\n";
}

std::string smallest_text(const TrainAnswer& answer) {
  if (!answer.smallest) return {};
  return fmt::format("fits on {} such GPUs at least ({}, {:.1f} GiB each)\n", answer.smallest->gpus,
                     plan::short_text(answer.smallest->layout), answer.smallest->needed / kGib);
}

std::string rejected_text(const TrainAnswer& answer) {
  constexpr std::size_t kShown = 8;
  const auto& rejected = answer.search.rejected;
  if (rejected.empty()) return {};
  Table table{{"left out", "layouts", "such as"}, {}, 1};
  for (std::size_t i = 0; i < std::min(kShown, rejected.size()); ++i)
    table.rows.push_back({rejected[i].reason, fmt::format("{}", rejected[i].count),
                          plan::short_text(rejected[i].example)});
  return "\n" + table_text(table);
}

std::string details(const TrainAnswer& answer, const plan::TrainEstimate& best) {
  std::string text = fmt::format("\n{}\n", plan::full_text(best.layout));
  text += fmt::format("{} micro-batches; ceiling: {}\n", best.micro_batches, ceiling_text(best));
  for (const std::string& line : cost_lines(answer, best)) text += line + "\n";
  text += "\n" + table_text(parts_table(best));
  text += fmt::format("\nmemory in GiB, of {:.1f} that a GPU has\n", best.capacity / kGib);
  text += table_text(memory_table(best));
  if (!best.traffic.empty()) text += "\n" + table_text(traffic_table(best));
  if (!answer.what_ifs.empty()) text += "\n" + table_text(what_if_table(answer));
  return text;
}

std::string tensor_text(const TrainAnswer& answer) {
  if (answer.tensor_steps.empty()) return {};
  return "\nhow large a TP group may grow before the network is the ceiling\n" +
         table_text(tensor_table(answer)) +
         "\nthe same over island size and a GPU's bandwidth (50 GB/s beyond the island)\n" +
         table_text(island_table(answer));
}

std::string launch(const TrainAnswer& answer, const plan::TrainEstimate& best) {
  const plan::TrainJob& job = answer.model.job();
  return "\nMegatron-LM\n" + plan::megatron_flags(job, best.layout) + "\ntorchtitan\n" +
         plan::torchtitan_toml(job, best.layout);
}

}  // namespace

std::string train_text(const TrainAnswer& answer, bool verbose) {
  std::string text = heading(answer);
  if (answer.search.best.empty())
    return text + nothing_fits(answer) + smallest_text(answer) + rejected_text(answer);
  if (answer.searched) {
    text += fmt::format("{} layouts considered, {} fit\n\n", answer.search.considered,
                        answer.search.fitting);
    text += table_text(layouts_table(answer));
    text += smallest_text(answer);
  }
  const plan::TrainEstimate& best = answer.search.best.front();
  if (!best.fits())
    text += fmt::format("does not fit: needs {:.1f} of {:.1f} GiB\n", best.needed / kGib,
                        best.capacity / kGib);
  text += details(answer, best);
  if (verbose) text += tensor_text(answer) + rejected_text(answer);
  return text + launch(answer, best);
}

}  // namespace isleway::report
