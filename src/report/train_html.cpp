// One page, without anything to load.
#include <fmt/format.h>

#include "isleway/core/markup.hpp"
#include "report/train_rows.hpp"

namespace isleway::report {
namespace {

constexpr const char* kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;"
    "color:#1a1a1a;background:#fff}table{border-collapse:collapse;margin:1em 0}"
    "th,td{padding:.25em .8em;text-align:right;border-bottom:1px solid #ccc}"
    "th:first-child,td:first-child{text-align:left}pre{background:#f4f4f4;padding:1em;"
    "overflow-x:auto}.bar{display:flex;height:2em}.bar span{overflow:hidden;color:#fff;"
    "font-size:12px;line-height:2em;padding-left:.3em;white-space:nowrap}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}"
    "pre{background:#262626}th,td{border-color:#444}}";

constexpr std::array<const char*, plan::kParts> kColours = {
    "#2b6cb0", "#63b3ed", "#c05621", "#b7791f", "#97266d",
    "#6b46c1", "#718096", "#c53030", "#2f855a", "#4a5568"};

std::string table_html(const Table& table) {
  std::string html = "<table><tr>";
  for (const std::string& cell : table.heading) html += "<th>" + escape_markup(cell) + "</th>";
  html += "</tr>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const std::string& cell : row) html += "<td>" + escape_markup(cell) + "</td>";
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

/// A step as one bar, its parts as wide as they are long.
std::string bar(const plan::TrainEstimate& estimate) {
  std::string html = "<div class=\"bar\">";
  for (std::size_t i = 0; i < plan::kParts; ++i) {
    const double share = estimate.parts[i].seconds() / estimate.step.seconds() * 100;
    if (share < 0.05) continue;
    const char* name = name_of(static_cast<plan::Part>(i));
    html +=
        fmt::format("<span style=\"width:{:.2f}%;background:{}\" title=\"{} {:.1f}%\">{}</span>",
                    share, kColours[i], name, share, share > 5 ? name : "");
  }
  return html + "</div>\n";
}

std::string section(const char* title, const std::string& content) {
  return content.empty() ? "" : fmt::format("<h2>{}</h2>\n{}", title, content);
}

}  // namespace

std::string train_html(const TrainAnswer& answer) {
  const plan::TrainJob& job = answer.model.job();
  std::string html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">";
  html += fmt::format("<title>{} on {}</title><style>{}</style></head><body>\n",
                      escape_markup(job.model.name), escape_markup(answer.machine), kStyle);
  html += fmt::format("<h1>{} on {}</h1>\n<p>{} GPUs, {} sequences of {} tokens a step, {}.</p>\n",
                      escape_markup(job.model.name), escape_markup(answer.machine),
                      answer.model.interconnect().ranks(), job.global_batch, job.sequence,
                      name_of(job.precision));
  if (answer.search.best.empty()) {
    html += "<p>No layout fits into memory.</p>\n";
  } else {
    const plan::TrainEstimate& best = answer.search.best.front();
    html += section("Layouts", table_html(layouts_table(answer)));
    std::string step =
        fmt::format("<p>{}</p>\n<p>Ceiling: {}.</p>\n", escape_markup(plan::full_text(best.layout)),
                    escape_markup(ceiling_text(best)));
    for (const std::string& line : cost_lines(answer, best))
      step += "<p>" + escape_markup(line) + "</p>\n";
    html += section("A step", step + bar(best) + table_html(parts_table(best)));
    html += section("Memory in GiB", table_html(memory_table(best)));
    html += section("Traffic", table_html(traffic_table(best)));
    if (!answer.what_ifs.empty())
      html += section("Other hardware", table_html(what_if_table(answer)));
    if (!answer.tensor_steps.empty())
      html += section("How large a TP group may grow",
                      table_html(tensor_table(answer)) + table_html(island_table(answer)));
    html += section("Megatron-LM",
                    "<pre>" + escape_markup(plan::megatron_flags(job, best.layout)) + "</pre>\n");
    html += section("torchtitan",
                    "<pre>" + escape_markup(plan::torchtitan_toml(job, best.layout)) + "</pre>\n");
  }
  return html + "</body></html>\n";
}

}  // namespace isleway::report
