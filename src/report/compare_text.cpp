#include <fmt/format.h>

#include <algorithm>

#include "isleway/core.hpp"
#include "isleway/report/compare.hpp"

namespace isleway::report {
namespace {

constexpr std::size_t kWorstCells = 8;

std::string percent(double share) { return fmt::format("{:.0f}%", 100 * share); }

std::string upper(verify::Verdict verdict) {
  std::string text = name_of(verdict);
  for (char& c : text) c = static_cast<char>(c - 'a' + 'A');
  return text;
}

bool is_matrix(const verify::Comparison& comparison) {
  return !comparison.points.empty() && comparison.points[0].kind != verify::Point::Kind::row;
}

std::string points_text(const verify::Comparison& comparison, bool everything) {
  std::vector<const verify::Point*> points;
  for (const verify::Point& point : comparison.points) points.push_back(&point);
  const bool cells = is_matrix(comparison);
  if (cells && !everything) {
    std::stable_sort(points.begin(), points.end(),
                     [](const auto* a, const auto* b) { return a->share < b->share; });
    points.resize(std::min(points.size(), kWorstCells));
  }
  std::string text = fmt::format("  {:>12}{:>14}{:>14}{:>8}  {}\n", cells ? "copy" : "size",
                                 "measured " + comparison.unit, "expected " + comparison.unit,
                                 "speed", cells ? "" : "NCCL's choice");
  for (const verify::Point* point : points)
    text += fmt::format("  {:>12}{:>14.2f}{:>14.2f}{:>8}  {}\n", point->label, point->measured,
                        point->expected, percent(point->share), point->choice);
  if (points.size() < comparison.points.size())
    text += fmt::format("  the worst {} of {} (-v shows all)\n", points.size(),
                        comparison.points.size());
  return text;
}

std::string causes_text(const verify::Comparison& comparison) {
  if (comparison.verdict < verify::Verdict::warning) return {};
  if (comparison.causes.empty())
    return fmt::format("  No fault or setting that is simulated here explains it ({} off).\n",
                       percent(comparison.error));
  std::string text = fmt::format(
      "  Simulated with one thing wrong, the machine comes closest to this with (median error; "
      "without any {}):\n",
      percent(comparison.error));
  for (const verify::Cause& cause : comparison.causes) {
    text += fmt::format("  {:>6}  {}\n          look at: {}\n", percent(cause.error), cause.title,
                        cause.remedy);
    for (const std::string& line : cause.evidence)
      text += fmt::format("          the log says, {}\n", line);
  }
  if (comparison.causes.size() > 1)
    text += "  These are too alike for the measurement alone to tell them apart.\n";
  return text;
}

std::string table_text(const verify::Comparison& comparison, bool everything) {
  std::string text = comparison.title;
  if (comparison.line > 0) text += fmt::format(" (line {})", comparison.line);
  text += fmt::format(": {}, {}\n", upper(comparison.verdict), comparison.why);
  for (const std::string& note : comparison.notes) text += "  assumed: " + note + "\n";
  if (comparison.points.empty()) return text + "\n";
  return text + points_text(comparison, everything) + causes_text(comparison) + "\n";
}

std::string findings_text(const ComparedFile& file) {
  if (file.findings.empty()) return {};
  std::string text = "NCCL's log:\n";
  for (const verify::Finding& finding : file.findings) {
    const std::string level =
        finding.severity == verify::Verdict::good ? "" : upper(finding.severity) + " ";
    text += finding.line > 0 ? fmt::format("  {}line {}: {}\n", level, finding.line, finding.text)
                             : fmt::format("  {}{}\n", level, finding.text);
  }
  return text + "\n";
}

}  // namespace

verify::Verdict ComparedFile::verdict() const {
  if (comparisons.empty() && findings.empty()) return verify::Verdict::unknown;
  auto worst = verify::Verdict::good;
  for (const verify::Comparison& comparison : comparisons)
    worst = std::max(worst, comparison.verdict);
  for (const verify::Finding& finding : findings) worst = std::max(worst, finding.severity);
  return worst;
}

std::string comparison_text(const ComparedFile& file, bool everything) {
  std::string text = fmt::format("{} on {}\n\n", upper(file.verdict()), file.machine);
  for (const verify::Comparison& comparison : file.comparisons)
    text += table_text(comparison, everything);
  text += findings_text(file);
  for (const std::string& name : file.skipped)
    text += fmt::format("not compared: {} is not simulated\n", name);
  return text;
}

}  // namespace isleway::report
