// The engines' times for the same calls, side by side.
#include <fmt/format.h>

#include "isleway/report/bench.hpp"

namespace isleway::report {
namespace {

bool same_call(const BenchRun& a, const BenchRun& b) {
  return a.collective == b.collective && a.type.name == b.type.name && a.reduction == b.reduction &&
         a.root == b.root && a.rows.size() == b.rows.size();
}

std::string table(const std::vector<const BenchRun*>& runs) {
  const BenchRun& last = *runs.back();
  std::string text =
      fmt::format("# Engines side by side: {}, {}, {}, root {}; difference to {}\n#{:>11}",
                  name_of(last.collective), last.type.name, last.shown_reduction(),
                  last.shown_root(), last.engine, "size (B)");
  for (const BenchRun* run : runs) text += fmt::format("  {:>15}", run->engine + " (us)");
  for (const BenchRun* run : runs)
    if (run != &last) text += fmt::format("  {:>9}", run->engine);
  text += "\n";
  for (std::size_t i = 0; i < last.rows.size(); ++i) {
    text += fmt::format("#{:>11}", last.rows[i].size.bytes);
    for (const BenchRun* run : runs) text += fmt::format("  {:>15.2f}", run->rows[i].time.us());
    const double reference = last.rows[i].time.us();
    for (const BenchRun* run : runs)
      if (run != &last)
        text += reference > 0
                    ? fmt::format("  {:>+8.1f}%", (run->rows[i].time.us() / reference - 1) * 100)
                    : fmt::format("  {:>9}", "-");
    text += "\n";
  }
  return text;
}

}  // namespace

std::string engines_side_by_side(std::span<const BenchRun> runs) {
  std::string text;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<const BenchRun*> alike{&runs[i]};
    for (std::size_t j = i + 1; j < runs.size(); ++j)
      if (same_call(runs[i], runs[j])) alike.push_back(&runs[j]);
    if (alike.size() > 1 && runs[i].engine == runs.front().engine) text += table(alike);
  }
  return text;
}

}  // namespace isleway::report
