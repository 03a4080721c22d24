// A table of nccl-tests against the machine.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "isleway/core.hpp"
#include "isleway/core/parallel.hpp"
#include "verify/judge.hpp"
#include "verify/log_evidence.hpp"
#include "verify/simulate.hpp"

namespace isleway::verify {
namespace {

/// What a table needs at most, spread over its rows, to say what is expected.
constexpr std::size_t kMostPoints = 200;

/// And to tell one cause from another: less where each takes long.
std::size_t points_for_causes(int ranks) {
  return std::clamp<std::size_t>(4096 / static_cast<std::size_t>(ranks), 5, 16);
}

/// Where the name is not in the file: from the columns. busbw over algbw is 2(n-1)/n for
/// all_reduce, (n-1)/n for what divides the data, 1 for the rest.
Result<Collective> collective_of(const formats::NcclTestsTable& table,
                                 std::vector<std::string>& notes) {
  if (!table.collective.empty()) return parse_collective(table.collective);
  for (const formats::NcclTestsRow& row : table.rows) {
    const auto& side = row.out_of_place ? row.out_of_place : row.in_place;
    if (!side || side->algbw_GBs < 1) continue;
    const bool reduces = !row.redop.empty() && row.redop != "none", rooted = row.root >= 0;
    const double factor = side->busbw_GBs / side->algbw_GBs;
    const bool divides = table.ranks > 1 && factor < 0.99;
    const Collective guess = reduces && rooted    ? Collective::reduce
                             : reduces && divides ? Collective::reduce_scatter
                             : reduces            ? Collective::all_reduce
                             : rooted             ? Collective::broadcast
                                                  : Collective::all_gather;
    notes.push_back(fmt::format("the file does not say which collective it is: {}, by its columns",
                                name_of(guess)));
    return guess;
  }
  return fail("the table does not say which collective it is, and has no bandwidths to tell",
              "a line such as \"# Collective test starting: all_reduce_perf\"", "--collective");
}

/// The GPUs that took part: the first ones of each node, where the table has fewer ranks.
Result<Fabric> fabric_for(const formats::NcclTestsTable& table, const Fabric& fabric,
                          std::vector<std::string>& notes) {
  const auto gpus = static_cast<int>(fabric.gpu_count());
  const auto hosts = static_cast<int>(fabric.host_count());
  if (table.ranks == 0) {
    notes.push_back(fmt::format("the file does not say how many ranks there are: {}", gpus));
    return fabric;
  }
  if (table.ranks == gpus) return fabric;
  const std::set<std::string> named(table.hosts.begin(), table.hosts.end());
  if (table.ranks > gpus || table.ranks % hosts != 0 || table.ranks < hosts) {
    const bool several = table.ranks > gpus && table.ranks % gpus == 0;
    return fail(
        fmt::format("the table has {} ranks{}, the machine {} GPUs", table.ranks,
                    named.size() > 1 ? fmt::format(" on {} hosts", named.size()) : "", gpus),
        "the machine that was measured",
        several ? fmt::format("-m '{}*{}' with --network", fabric.name(), table.ranks / gpus)
                : "-g N for fewer GPUs of each node, --fail node17 for one node less");
  }
  notes.push_back(fmt::format("{} of {} GPUs of each node take part: the first ones",
                              table.ranks / hosts, gpus / hosts));
  return with_first_gpus(fabric, table.ranks / hosts);
}

/// The user's setup, and what the file says of it.
Result<Setup> setup_for(const formats::NcclTestsTable& table, const Setup& given,
                        const formats::NcclInfo& log, std::vector<std::string>& notes) {
  auto fabric = fabric_for(table, given.fabric, notes);
  if (!fabric) return tl::unexpected(fabric.error());
  Setup setup{*std::move(fabric), given.options};
  const std::string& version = table.nccl_version.empty() ? log.version : table.nccl_version;
  if (const auto parsed = nccl::parse_version(version);
      parsed && given.options.version == nccl::Version{})
    setup.options.version = *parsed;
  if (table.gpus_per_process > 1) setup.options.launch.gpus_per_process = table.gpus_per_process;
  setup.options.launch.cuda_graph |= table.cuda_graph;
  return setup;
}

/// A row of the table as a call.
struct MeasuredCall {
  nccl::BenchCall call;
  std::int64_t bytes;
  double us;
};

std::vector<MeasuredCall> calls_of(const formats::NcclTestsTable& table, Collective collective,
                                   int ranks) {
  std::vector<MeasuredCall> calls;
  for (const formats::NcclTestsRow& row : table.rows) {
    const auto& side = row.out_of_place ? row.out_of_place : row.in_place;
    if (!side || side->time_us <= 0 || row.bytes <= 0) continue;
    nccl::BenchCall call;
    call.collective = collective;
    call.type = nccl::parse_data_type(row.type).value_or(nccl::DataType{});
    call.root = nccl::takes_root(collective) ? std::clamp(row.root, 0, ranks - 1) : 0;
    calls.push_back({call, row.bytes, side->time_us});
  }
  return calls;
}

/// Every n-th, so that at most `most` are left; the last one always.
template <class T>
void thin_out(std::vector<T>& all, std::size_t most) {
  if (all.size() <= most) return;
  std::vector<T> kept;
  for (std::size_t i = 0; i < most; ++i) kept.push_back(all[i * (all.size() - 1) / (most - 1)]);
  all = std::move(kept);
}

/// Nothing for what NCCL refuses: that is no explanation.
std::optional<Cause> simulated(const Hypothesis& hypothesis, const CompareContext& context,
                               const std::vector<MeasuredCall>& calls) {
  const auto simulation = Simulation::create(hypothesis.variant, context);
  if (!simulation) return std::nullopt;
  Cause cause{hypothesis.key,
              hypothesis.title,
              hypothesis.remedy,
              0,
              std::vector<double>(calls.size()),
              evidence_for(hypothesis.key, context.log)};
  // From the end, since large sizes tell the most.
  const std::size_t most = points_for_causes(simulation->communicator().ranks());
  const std::size_t step = (calls.size() + most - 1) / most;
  for (std::size_t i = calls.size(); i > 0; i -= std::min(step, i)) {
    const auto row = simulation->row(calls[i - 1].call, calls[i - 1].bytes);
    if (row && row->decision) cause.simulated[i - 1] = row->time.us();
  }
  return cause;
}

void add_causes(const Setup& setup, const CompareContext& context,
                const std::vector<MeasuredCall>& calls, Comparison& comparison) {
  std::vector<Hypothesis> all = hypotheses(setup, context.parts);
  std::erase_if(all, [&](const Hypothesis& one) { return is_refuted(one.key, context.log); });
  std::vector<std::optional<Cause>> causes(all.size());
  parallel_for(all.size(), [&](std::size_t i) { causes[i] = simulated(all[i], context, calls); });
  for (auto& cause : causes)
    if (cause) comparison.causes.push_back(*std::move(cause));
  keep_best(comparison.points, comparison.causes);
}

}  // namespace

Result<Comparison> compare_table(const formats::NcclTestsTable& table, const Setup& given,
                                 const CompareContext& context) {
  Comparison comparison;
  comparison.unit = "us";
  comparison.line = table.line;
  const auto collective = collective_of(table, comparison.notes);
  if (!collective) return tl::unexpected(collective.error());
  const auto setup = setup_for(table, given, context.log, comparison.notes);
  if (!setup) return tl::unexpected(setup.error());
  const Variant variant{*setup};
  const auto simulation = Simulation::create(variant, context);
  if (!simulation) return tl::unexpected(simulation.error());
  const int ranks = simulation->communicator().ranks();
  comparison.title = fmt::format("{}, {} rank{}, NCCL {}", name_of(*collective), ranks,
                                 ranks == 1 ? "" : "s", setup->options.version.text());

  std::vector<MeasuredCall> calls = calls_of(table, *collective, ranks);
  thin_out(calls, kMostPoints);
  std::vector<MeasuredCall> compared;
  for (const MeasuredCall& one : calls) {
    const auto row = simulation->row(one.call, one.bytes);
    if (!row) return tl::unexpected(row.error());
    if (!row->decision || row->time <= Time()) continue;
    comparison.points.push_back({Point::Kind::row, size_text(Bytes(one.bytes)), one.bytes, one.us,
                                 row->time.us(), row->time.us() / one.us,
                                 fmt::format("{} {}", name_of(row->decision->algorithm),
                                             name_of(row->decision->protocol))});
    compared.push_back(one);
  }
  judge(comparison);
  if (comparison.verdict >= Verdict::warning) add_causes(*setup, context, compared, comparison);
  return comparison;
}

}  // namespace isleway::verify
