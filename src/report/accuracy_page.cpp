// docs/accuracy.md.
#include <fmt/format.h>

#include <cmath>

#include "report/accuracy_rows.hpp"

namespace isleway::report {
namespace {

constexpr std::size_t kWorst = 25;

constexpr const char* kHead = R"(# How far from measurements

What `isleway bench` says, against tables of nccl-tests that others published. The figure is
`|simulated - measured| / measured` of the time of every out-of-place row, in percent; p90 is what
nine rows in ten stay within. Made by `isleway accuracy --page docs --cross-validate`; the tables,
with the source of each, are in [measurements](../measurements/collectives).

Machine and network are the nearest of the catalogue; the release of NCCL, `NCCL_*` and the number
of GPUs of a process are those of the table where it states them. Releases before 2.18 are taken as
2.18, which chooses otherwise than they did. The engine is the closed form.

**The constants of [timing.yaml](../machines/parts/timing.yaml) were fitted on these same tables**
(`isleway accuracy --calibrate`; without those of older releases, and without those that
[say why not](#every-table)), so these are not errors on unseen machines.
[Below](#on-machines-left-out) is what happens when machines are left out of the fit.

)";

std::string row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += " " + cell + " |";
  return text + "\n";
}

std::string heading(const std::vector<std::string>& names, std::size_t texts) {
  std::string text = row(names) + "|";
  for (std::size_t i = 0; i < names.size(); ++i) text += i < texts ? " --- |" : " ---: |";
  return text + "\n";
}

std::string group_row(const std::vector<std::string>& names, const verify::Group& group) {
  std::vector<std::string> cells = names;
  for (std::string& figure : figures(group)) cells.push_back(std::move(figure));
  return row(cells);
}

std::string result(std::span<const verify::ComparedTable> tables) {
  std::string text = "## Result\n\n" + heading({"machines", "collective", "tables", "rows",
                                                "≥ 16 MiB: median", "p90", "all: median", "p90"},
                                               2);
  for (const verify::Group& group : by_platform_and_collective(tables))
    text += group_row({group.keys[0], group.keys[1]}, group);
  text += group_row({"**all**", ""}, all_tables(tables));
  text += group_row({"**NCCL 2.18 and later**", ""}, known_releases(tables));
  return text + "\n";
}

/// The largest bus bandwidths, where a table goes as far as that.
std::string peaks(std::span<const verify::ComparedTable> tables) {
  constexpr std::int64_t kFar = std::int64_t{1} << 30;
  std::string text = "## Largest bus bandwidth\n\nOf all-reduce, in GB/s.\n\n" +
                     heading({"table", "simulated", "measured", ""}, 1);
  for (const verify::ComparedTable& table : tables) {
    double measured = 0, predicted = 0;
    if (table.rows.empty() || table.rows.back().bytes < kFar ||
        table.table->collective != Collective::all_reduce)
      continue;
    for (const verify::ComparedRow& r : table.rows) {
      measured = std::max(measured, busbw(*table.table, r.bytes, r.measured));
      predicted = std::max(predicted, busbw(*table.table, r.bytes, r.predicted));
    }
    text += row({table.table->id, fmt::format("{:.0f}", predicted), fmt::format("{:.0f}", measured),
                 fmt::format("{:+.0f}%", 100 * (predicted / measured - 1))});
  }
  return text + "\n";
}

std::string worst_tables(std::span<const verify::ComparedTable> tables) {
  std::string text =
      "## Worst tables\n\nBy the median error of their rows, all sizes. The bias is the median of "
      "signed errors.\n\n" +
      heading({"table", "what is known", "median", "bias"}, 2);
  const auto worst = verify::worst_first(tables);
  for (std::size_t i = 0; i < std::min(kWorst, worst.size()); ++i) {
    const verify::MeasuredTable& table = *worst[i]->table;
    text +=
        row({table.id, bias(*worst[i]), table.set_aside.empty() ? table.note : table.set_aside});
  }
  return text + "\n";
}

std::string validated(std::span<const Validation> validations) {
  if (validations.empty()) return {};
  std::string text =
      "## On machines left out\n\nThe constants refitted without the tables of one group, then "
      "held against just those. The refit is one step of the linearised model from the constants "
      "of the catalogue, so what the left-out tables alone say about a constant is forgotten only "
      "as far as the others object. Median and p90 over all sizes.\n\n";
  for (const Validation& validation : validations) {
    text += "By " + validation.title + ":\n\n" +
            heading({validation.title, "tables", "rows", "with it: median", "p90",
                     "without it: median", "p90"},
                    1);
    for (const verify::LeftOut& left_out : validation.groups) {
      const auto with = figures(all_tables(left_out.with));
      const auto without = figures(all_tables(left_out.without));
      text += row({left_out.group, with[0], with[1], with[4], with[5], without[4], without[5]});
    }
    text += "\n";
  }
  return text;
}

std::string every_table(std::span<const verify::ComparedTable> tables) {
  std::string text =
      "## Every table\n\n" + heading({"table", "stands for it",
                                      "not fitted on, or not compared, "
                                      "because",
                                      "rows", "≥ 16 MiB: median", "p90", "all: median", "p90"},
                                     3);
  for (const verify::ComparedTable& compared : tables) {
    const verify::MeasuredTable& table = *compared.table;
    std::string machine = table.machine;
    if (!table.network.empty()) machine += ", " + table.network;
    std::string why = compared.left_out.empty() ? table.set_aside : compared.left_out;
    if (why.empty() && compared.left_out.empty() && !verify::calibrates(table))
      why = "NCCL " + table.nccl.version.text();
    verify::Group group;
    if (!compared.rows.empty()) group.tables.push_back(&compared);
    auto cells = figures(group);
    cells[0] = why;
    cells.insert(cells.begin(),
                 {fmt::format("[{0}](../measurements/collectives/{0}.yaml)", table.id), machine});
    text += row(cells);
  }
  return text + "\n";
}

}  // namespace

std::string accuracy_page(std::span<const verify::ComparedTable> tables,
                          std::span<const Validation> validations,
                          std::span<const Picture> pictures, const std::string& folder) {
  std::string text = std::string(kHead) + result(tables) + peaks(tables) + worst_tables(tables) +
                     validated(validations) + every_table(tables);
  text += "## Curves\n\nMeasured (full) and simulated (dashed) bus bandwidth over size.\n";
  for (const Picture& picture : pictures)
    text += fmt::format("\n![{}]({}/{})\n", picture.title, folder, picture.file);
  return text;
}

}  // namespace isleway::report
