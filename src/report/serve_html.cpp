#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isleway/core/markup.hpp"
#include "isleway/report/serve.hpp"
#include "report/chart.hpp"
#include "report/serve_rows.hpp"

namespace isleway::report {
namespace {

constexpr double kWidth = 640, kHeight = 320, kMargin = 56;

/// Throughput of a GPU over speed for a user: what every layout trades.
std::string front_svg(std::span<const plan::ServeEstimate> front) {
  double most_user = 0, most_gpu = 0;
  for (const auto& e : front) {
    most_user = std::max(most_user, e.user_speed());
    most_gpu = std::max(most_gpu, e.output_per_gpu);
  }
  const double user_end = round_up(most_user), gpu_end = round_up(most_gpu);
  if (!(user_end > 0) || !(gpu_end > 0)) return {};
  const auto x = [&](double value) { return kMargin + value / user_end * (kWidth - 2 * kMargin); };
  const auto y = [&](double value) {
    return kHeight - kMargin - value / gpu_end * (kHeight - 2 * kMargin);
  };
  std::string line, dots;
  for (const auto& e : front) {
    line += fmt::format("{:.1f},{:.1f} ", x(e.user_speed()), y(e.output_per_gpu));
    dots += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{} at {:.0f} "
        "requests</title></circle>\n",
        x(e.user_speed()), y(e.output_per_gpu), escape_markup(layout_text(e)), e.concurrency);
  }
  std::string ticks;
  constexpr int kTicks = 4;
  for (int i = 0; i <= kTicks; ++i) {
    const double share = double(i) / kTicks;
    ticks += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}</text>\n",
                         x(share * user_end), kHeight - kMargin + 18, share * user_end);
    ticks += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n",
                         kMargin - 8, y(share * gpu_end) + 4, share * gpu_end);
  }
  return fmt::format(
      "<svg viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-label=\"tokens per second of a GPU over "
      "those of a user\">\n<polyline points=\"{}\"/>\n{}{}"
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">tokens/s for a user</text>\n"
      "<text x=\"{:.1f}\" y=\"{:.1f}\">tokens/s of a GPU</text>\n</svg>\n",
      kWidth, kHeight, line, dots, ticks, kWidth / 2, kHeight - 8, kMargin, kMargin - 16);
}

std::string rows(const ServeHeading& heading, std::span<const plan::ServeEstimate> all) {
  std::string text =
      "<table><tr><th>layout<th>GPUs<th>requests at once<th>TTFT ms<th>TPOT ms<th>tok/s per "
      "user<th>tok/s per GPU<th>requests/s<th>ceiling";
  if (heading.price > 0) text += "<th>$ per Mtoken";
  text += "</tr>\n";
  for (const auto& e : all) {
    text += fmt::format(
        "<tr><td>{}<td>{}<td>{:.0f}<td>{:.0f}<td>{:.2f}<td>{:.1f}<td>{:.0f}<td>{:.2f}<td>{}{}",
        escape_markup(layout_text(e)), e.gpus, e.concurrency, e.ttft * 1e3, e.tpot * 1e3,
        e.user_speed(), e.output_per_gpu, e.requests_per_second, escape_markup(e.ceiling),
        e.link.empty() ? "" : " (" + escape_markup(e.link) + ")");
    if (heading.price > 0) text += fmt::format("<td>{:.3f}", dollars_per_million(heading.price, e));
    text += "</tr>\n";
  }
  return text + "</table>\n";
}

constexpr const char* kStyle =
    ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:72em;"
    "margin:2em auto;padding:0 1em}table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em "
    ".8em;text-align:right;border-bottom:1px solid #8884}td:first-child,th:first-child{text-align:"
    "left}pre{overflow:auto;padding:.6em;background:#8881}svg{max-width:46em}polyline{fill:none;"
    "stroke:#2a78d6;stroke-width:2}circle{fill:#2a78d6}svg text{fill:currentColor;font-size:12px}";

}  // namespace

std::string serve_html(const ServeHeading& heading, const plan::ServeJob& job,
                       const plan::ServePlan& plan) {
  const std::string title =
      fmt::format("{} in {} on {}", heading.model, model::name_of(job.precision), heading.machine);
  std::string page = fmt::format(
      "<!doctype html><html lang=\"en\"><meta "
      "charset=\"utf-8\"><title>{}</title><style>{}</style>\n"
      "<h1>{}</h1>\n<p>{} x {}; {:.0f} tokens in, {:.0f} out; as {} serves.</p>\n",
      escape_markup(title), kStyle, escape_markup(title), heading.gpus, escape_markup(heading.gpu),
      job.input, job.output, escape_markup(job.software.name));
  if (!heading.extrapolated.empty())
    page += fmt::format("<p>Times of this GPU's kernels are an assumption: {}.</p>\n",
                        escape_markup(heading.extrapolated));
  page += "<h2>Latency and throughput</h2>\n" + front_svg(plan.front) + rows(heading, plan.front);
  page += "<h2>Layouts</h2>\n" + rows(heading, plan.layouts);
  if (!plan.rejected.empty()) {
    page += "<h2>Not possible</h2>\n<ul>\n";
    for (const auto& r : plan.rejected)
      page += fmt::format("<li>{}{}: {}</li>\n", escape_markup(r.layout),
                          r.count > 1 ? fmt::format(" and {} more", r.count - 1) : "",
                          escape_markup(r.why));
    page += "</ul>\n";
  }
  page += "<h2>Commands</h2>\n";
  for (const auto& c : plan::serve_commands(job, plan.layouts.front(), heading.model_id))
    page +=
        fmt::format("<p>{}</p><pre>{}</pre>\n", escape_markup(c.software), escape_markup(c.text));
  return page + "</html>\n";
}

}  // namespace isleway::report
