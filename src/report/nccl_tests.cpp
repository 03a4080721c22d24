// The table of nccl-tests, column by column, so that whatever parses one parses the other.
// The formats are those of nccl-tests 2.19 (github.com/NVIDIA/nccl-tests, src/util.cu).
#include <fmt/format.h>

#include <algorithm>

#include "isleway/core.hpp"
#include "isleway/report/bench.hpp"
#include "report/gpu_names.hpp"

namespace isleway::report {
namespace {

constexpr std::uint32_t kMostRanksListed = 1024;

/// As many decimals as fit into `width`, from two down; then powers of ten.
std::string fitted(double value, std::size_t width) {
  for (const int decimals : {2, 1, 0}) {
    std::string text = fmt::format("{:{}.{}f}", value, width, decimals);
    if (text.size() <= width) return text;
  }
  return fmt::format("{:{}.{}e}", value, width, width >= 7 ? 1 : 0);
}

std::string device_lines(const Fabric& fabric, const Parts& parts) {
  std::string text;
  const std::uint32_t listed = std::min(fabric.gpu_count(), kMostRanksListed);
  for (GpuId rank = 0; rank < listed; ++rank) {
    const DeviceRef ref = fabric.gpu(rank);
    const Device& gpu = fabric.device(ref);
    const BusAddress bus = bus_address(fabric, rank);
    text += fmt::format(
        "#  Rank {:2} Group {:2} Pid {:6} on {:>10} device {:2} [{:04x}:{:02x}:{:02x}] {}\n", rank,
        0, 0, fmt::format("node{}", fabric.host_of(ref)), gpu.index, bus.domain, bus.bus,
        bus.device, gpu_title(fabric, parts, rank));
  }
  if (listed < fabric.gpu_count())
    text += fmt::format("#  ... {} ranks in all\n", fabric.gpu_count());
  return text;
}

/// Which of the times no measurement stands behind.
std::string extrapolation(const BenchRun& run, const nccl::SizeRange& sizes) {
  if (run.announced)
    return "# Extrapolated: the machine is announced; no measurement stands behind these figures\n";
  if (!run.measured) return "# Extrapolated: no published measurement is of such a machine\n";
  const bool below = sizes.first<run.measured->first, above = sizes.last> run.measured->last;
  if (!below && !above) return {};
  return fmt::format(
      "# Extrapolated {}{}{}: no published measurement of such a machine reaches there\n",
      below ? "below " + size_text(Bytes(run.measured->first)) : "", below && above ? " and " : "",
      above ? "above " + size_text(Bytes(run.measured->last)) : "");
}

/// What nccl-tests has no line for.
std::string own_remarks(const BenchRun& run, const Fabric& fabric, const nccl::SizeRange& sizes) {
  std::string text =
      fmt::format("# Machine {}: {} ranks on {} node{}, engine {}, NCCL {}\n", run.machine,
                  run.ranks, run.nodes, run.nodes == 1 ? "" : "s", run.engine, run.nccl_version);
  std::vector<std::string> sources;
  for (const auto& unit : fabric.templates()) {
    const std::string& source = unit->parts().source;
    if (source.empty() || std::find(sources.begin(), sources.end(), source) != sources.end())
      continue;
    sources.push_back(source);
    text += fmt::format("# {} as described by {}\n", unit->parts().title, source);
  }
  return text + extrapolation(run, sizes) +
         "# Time is simulated and moves no data, so #wrong is N/A (-c 1 checks the schedules)\n#\n";
}

struct Titles {
  std::string names, units;
};

Titles extra_titles(ExtraColumns extra) {
  Titles titles;
  if (extra.estimate) {
    titles.names += fmt::format(" {:>8}", "nccl est");
    titles.units += fmt::format(" {:>8}", "(us)");
  }
  if (extra.choices) {
    titles.names += fmt::format("  {:9}  {:6}  {:>3}  {}", "algo", "proto", "nch", "bottleneck");
    titles.units += fmt::format("  {:9}  {:6}  {:>3}  ", "", "", "");
  }
  return titles;
}

std::string extra_cells(const nccl::BenchRow& row, ExtraColumns extra) {
  std::string text;
  const auto& decision = row.decision;
  if (extra.estimate)
    text += decision ? "  " + fitted(decision->estimate.us(), 7) : fmt::format(" {:>8}", "-");
  if (extra.choices) {
    text +=
        fmt::format("  {:9}  {:6}  {:>3}  {}",
                    !row.program.empty() ? row.program
                    : decision           ? name_of(decision->algorithm)
                                         : "-",
                    decision ? name_of(decision->protocol) : "-", decision ? decision->channels : 0,
                    row.bottleneck.empty()  ? "-"
                    : row.limited_by_sender ? row.bottleneck + " (sender)"
                                            : row.bottleneck);
  }
  return text;
}

}  // namespace

std::string nccl_tests_program(Collective collective) {
  return (collective == Collective::all_to_all ? "alltoall" : std::string(name_of(collective))) +
         "_perf";
}

bool is_announced(const Fabric& fabric) {
  return std::any_of(fabric.templates().begin(), fabric.templates().end(),
                     [](const auto& unit) { return unit->parts().announced; });
}

std::string nccl_tests_heading(const BenchRun& run, const NcclTestsSettings& settings,
                               const Fabric& fabric, const Parts& parts, ExtraColumns extra) {
  const bool factor = settings.range.factor > 1;
  const int code = version_code(run.nccl_version);
  std::string text = fmt::format(
      "# isleway: simulated, as nccl-tests would print it; nccl-headers={} nccl-library={}\n"
      "# Collective test starting: {}\n"
      "# nThread 1 nGpus {} minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} "
      "agg iters: 1 validation: {} graph: {} unalign: 0\n#\n",
      code, code, nccl_tests_program(run.collective), settings.gpus_per_process,
      settings.range.first, settings.asked_last,
      factor ? settings.range.factor : settings.range.step, factor ? "factor" : "bytes",
      settings.warmup, settings.iterations, settings.check, settings.graph);
  text += own_remarks(run, fabric, settings.range);
  text += "# Using devices\n" + device_lines(fabric, parts);
  if (settings.range.last < settings.asked_last)
    text +=
        fmt::format("#\n# Reducing maxBytes to {} due to memory limitation\n", settings.range.last);
  text += "#\n";

  const Titles titles = extra_titles(extra);
  text += fmt::format(
      "# {:10}  {:12}  {:8}  {:6}  {:6}           out-of-place                       "
      "in-place          \n",
      "", "", "", "", "");
  text += fmt::format(
      "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  "
      "{:>6} {}\n",
      "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw",
      "busbw", "#wrong", titles.names);
  text += fmt::format(
      "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  "
      "{:>6} {}\n",
      "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)",
      "", titles.units);
  return text;
}

std::string nccl_tests_row(const BenchRun& run, const nccl::BenchRow& row, ExtraColumns extra) {
  const auto side = [&](const nccl::BenchSpeed& speed) {
    return fmt::format("  {}  {}  {}  {:>6}", fitted(speed.time.us(), 7),
                       fitted(speed.algbw_GBs, 6), fitted(speed.busbw_GBs, 6),
                       row.checked ? "0" : "N/A");
  };
  std::string text = fmt::format("{:12}  {:12}  {:>8}  {:>6}  {:6}{}{}", row.size.bytes,
                                 row.size.count, run.type.name, run.shown_reduction(),
                                 run.shown_root(), side(row), side(row.in_place));
  return text + extra_cells(row, extra) + "\n";
}

int version_code(const std::string& text) {
  const auto version = nccl::parse_version(text).value_or(nccl::Version{});
  return version.major * 10000 + version.minor * 100 + version.patch;
}

double average_busbw(std::span<const BenchRun> runs) {
  double sum = 0;
  std::size_t count = 0;
  for (const BenchRun& run : runs) {
    for (const nccl::BenchRow& row : run.rows) sum += row.busbw_GBs + row.in_place.busbw_GBs;
    count += 2 * run.rows.size();
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

std::string nccl_tests_footer(Collective collective, double average_busbw) {
  return fmt::format(
      "# Out of bounds values : 0 OK\n"
      "# Avg bus bandwidth    : {:g} \n"
      "#\n# Collective test concluded: {}\n#\n\n",
      average_busbw, nccl_tests_program(collective));
}

}  // namespace isleway::report
