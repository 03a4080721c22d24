#include <fmt/format.h>

#include "report/accuracy_rows.hpp"

namespace isleway::report {
namespace {

constexpr std::size_t kWorst = 10;

std::string line(const std::string& platform, const std::string& collective,
                 const std::vector<std::string>& f) {
  return fmt::format("{:<28} {:<15} {:>6} {:>6} {:>7} {:>5} {:>7} {:>5}\n", platform, collective,
                     f[0], f[1], f[2], f[3], f[4], f[5]);
}

std::string not_compared(std::span<const verify::ComparedTable> tables) {
  std::string text;
  for (const verify::ComparedTable& table : tables)
    if (table.rows.empty()) text += fmt::format("  {:<45} {}\n", table.table->id, table.left_out);
  return text.empty() ? text : "\nnot compared\n" + text;
}

}  // namespace

std::string accuracy_text(std::span<const verify::ComparedTable> tables) {
  std::string text = "error in percent of the measured time    |  from 16 MiB  |  all sizes\n";
  text += line("machines", "collective", {"tables", "rows", "median", "p90", "median", "p90"});
  for (const verify::Group& group : by_platform_and_collective(tables))
    text += line(group.keys[0], group.keys[1], figures(group));
  text += line("all", "", figures(all_tables(tables)));
  text += line("NCCL 2.18 and later", "", figures(known_releases(tables)));
  text += "\nworst tables by their median\n";
  const auto worst = verify::worst_first(tables);
  for (std::size_t i = 0; i < std::min(kWorst, worst.size()); ++i)
    text += fmt::format("  {:<45} {:>5}  bias {:>5}\n", worst[i]->table->id,
                        median_error(*worst[i]), bias(*worst[i]));
  return text + not_compared(tables);
}

std::string validation_text(const Validation& validation) {
  std::string text =
      fmt::format("\nleft out, {}: as fitted with it | refitted without it\n", validation.title);
  text += fmt::format("{:<28} {:>6} {:>6} {:>7} {:>5} {:>7} {:>5}\n", "group", "tables", "rows",
                      "median", "p90", "median", "p90");
  for (const verify::LeftOut& left_out : validation.groups) {
    const auto with = figures(all_tables(left_out.with));
    const auto without = figures(all_tables(left_out.without));
    text += fmt::format("{:<28} {:>6} {:>6} {:>7} {:>5} {:>7} {:>5}\n", left_out.group, with[0],
                        with[1], with[4], with[5], without[4], without[5]);
  }
  return text;
}

}  // namespace isleway::report
