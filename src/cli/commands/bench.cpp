// isleway bench: the table that nccl-tests would print, simulated.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/bench_options.hpp"
#include "cli/command.hpp"
#include "isleway/core.hpp"
#include "isleway/nccl.hpp"

namespace isleway::cli {
namespace {

/// All that the calls of one bench share.
struct Bench {
  const BenchRequest& request;
  const BenchOptions& options;
  const Session& session;
  const Fabric& fabric;
  const Parts& parts;
  const nccl::Communicator& communicator;
  report::ExtraColumns extra() const { return {options.estimate, session.verbose}; }
};

/// The runs of one table: every type, reduction and root that the call has.
std::vector<report::BenchRun> planned(const Bench& bench, Collective collective,
                                      const std::string& engine) {
  const BenchRequest& request = bench.request;
  report::BenchRun run;
  run.machine = bench.fabric.name();
  run.collective = collective;
  run.ranks = bench.communicator.ranks();
  run.nodes = bench.communicator.nodes();
  run.engine = engine;
  run.nccl_version = request.nccl.options.version.text();
  run.announced = report::is_announced(bench.fabric);
  run.measured = bench.communicator.measured();
  std::vector<report::BenchRun> runs;
  const bool every_root = request.root < 0 && nccl::takes_root(collective);
  const std::size_t reductions = nccl::takes_reduction(collective) ? request.reductions.size() : 1;
  for (const nccl::DataType& type : request.types) {
    for (std::size_t i = 0; i < reductions; ++i) {
      run.type = type;
      run.reduction = request.reductions[i];
      for (int root = 0; root < (every_root ? run.ranks : 1); ++root) {
        run.root = every_root ? root : nccl::takes_root(collective) ? request.root : 0;
        runs.push_back(run);
      }
    }
  }
  return runs;
}

/// Fills `run` with rows, shown one by one; false after an error, which is reported.
bool measure(const Bench& bench, const Engine& engine, report::BenchRun& run, Progress& progress) {
  const nccl::BenchCall call{run.collective,
                             run.type,
                             run.root,
                             bench.request.nccl.algorithm,
                             bench.request.nccl.protocol,
                             bench.request.settings.check > 0,
                             bench.request.settings.iterations,
                             true,
                             {},
                             bench.request.program ? &*bench.request.program : nullptr};
  const std::vector<std::int64_t> sizes = bench.request.settings.range.sizes().value();
  for (const std::int64_t bytes : sizes) {
    if (bench.session.json)
      progress.show(
          fmt::format("{} {} {}", run.engine, name_of(run.collective), size_text(Bytes(bytes))));
    auto row = nccl::bench(bench.fabric, bench.communicator, engine, call, bytes);
    if (!row) {
      report(row.error());
      return false;
    }
    run.rows.push_back(std::move(*row));
    if (!bench.options.packet.shows_counters()) run.rows.back().counters.clear();
    if (!bench.session.json && print(report::nccl_tests_row(run, run.rows.back(), bench.extra()) +
                                     report::counter_lines(run.rows.back())) != Exit::good)
      return false;
  }
  return true;
}

/// One table as nccl-tests prints it; with --json only the rows.
bool run_table(const Bench& bench, const Engine& engine, std::vector<report::BenchRun>& runs,
               Progress& progress) {
  const bool text = !bench.session.json;
  if (text && print(report::nccl_tests_heading(runs.front(), bench.request.settings, bench.fabric,
                                               bench.parts, bench.extra())) != Exit::good)
    return false;
  for (report::BenchRun& run : runs)
    if (!measure(bench, engine, run, progress)) return false;
  if (!text) return true;
  std::string end = report::nccl_tests_footer(runs.front().collective, report::average_busbw(runs));
  if (bench.options.plot)
    for (const report::BenchRun& run : runs) end += report::busbw_plot(run) + "\n";
  return print(end) == Exit::good;
}

/// What is asked for beside the table.
int write_files(const Bench& bench, std::span<const report::BenchRun> all) {
  const BenchOptions& options = bench.options;
  if (!options.json_file.empty()) {
    const std::string json = report::nccl_tests_json(all, bench.request.settings, bench.fabric,
                                                     bench.parts, bench.request.nccl.options.env);
    if (const int status = print_to(options.json_file, json); status != Exit::good) return status;
  }
  if (options.svg.empty()) return Exit::good;
  const std::string picture = report::busbw_svg(all);
  if (picture.empty())
    return report(Error{{}, "--svg: there is no curve to draw", "two sizes or more", ""});
  return print_to(options.svg, picture);
}

int run_all(const Bench& bench) {
  Progress progress(bench.session);
  report::Trace trace;
  std::vector<report::BenchRun> all;
  for (const std::string& name : bench.request.engines) {
    report::Trace* const recorder = bench.options.trace.empty() ? nullptr : &trace;
    const auto engine =
        choose_engine(name, bench.options.packet, bench.request.speed_ups, bench.parts, recorder);
    if (!engine) return report(engine.error());
    for (const Collective collective : bench.request.collectives) {
      std::vector<report::BenchRun> runs = planned(bench, collective, name);
      if (!run_table(bench, **engine, runs, progress)) return Exit::critical;
      all.insert(all.end(), std::make_move_iterator(runs.begin()),
                 std::make_move_iterator(runs.end()));
    }
  }
  if (!bench.session.json && bench.request.engines.size() > 1)
    if (const int status = print(report::engines_side_by_side(all)); status != Exit::good)
      return status;
  if (const int status = write_files(bench, all); status != Exit::good) return status;
  if (!bench.options.trace.empty())
    if (const int status =
            write_trace(bench.options.trace, bench.fabric, trace, bench.communicator.ranks());
        status != Exit::good)
      return status;
  return bench.session.json ? print(report::bench_json(all)) : Exit::good;
}

int run(const BenchOptions& options, Session& session) {
  auto request = understand(options, nccl::environment());
  if (!request) return report(request.error());
  if (!options.json_file.empty() &&
      (request->collectives.size() > 1 || request->engines.size() > 1))
    return report(Error{{}, "-J: such a file holds one collective by one engine", "", "--json"});
  const auto fabric = resolve_machine(options.machine, session);
  if (!fabric) return report(fabric.error());
  const Parts& parts = (*session.catalogue())->parts();
  const auto communicator = nccl::Communicator::create(*fabric, parts, request->nccl.options);
  if (!communicator) return report(communicator.error());
  if (request->root >= (*communicator)->ranks())
    return report(Error{
        {},
        fmt::format("-r {}: there are only {} ranks", request->root, (*communicator)->ranks()),
        {},
        {}});
  if (!session.quiet)
    for (const std::string& remark : (*communicator)->remarks())
      fmt::print(stderr, "note: {}\n", remark);
  auto& settings = request->settings;
  settings.range = nccl::fit_into_memory(settings.range, *fabric, parts, settings.check > 0);
  return run_all({*request, options, session, *fabric, parts, **communicator});
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  add_bench_options(app, *options);
  app.footer(
      "Examples:\n"
      "  isleway bench all_reduce -m dgx-h100\n"
      "  isleway bench all_reduce -m 'dgx-h100*16' --network ndr400-rail -b 1M -e 4G\n"
      "  isleway bench all_reduce -m topo.xml -g 4 --algo RING --proto SIMPLE\n"
      "  isleway bench all -m dgx-a100 --json\n"
      "  isleway bench all_reduce -m dgx-h100 --fail gpu3:nvlink5 --env NCCL_NVLS_ENABLE=0\n"
      "  isleway bench all_reduce -m dgx-h100 --algo-file allreduce.xml --engine flow\n"
      "  isleway bench all_reduce -m dgx-h100 --engine packet --ber 1e-9 --sizes 256M\n"
      "  isleway bench all_reduce -m dgx-h100 --engine flow --sizes 16M --trace trace.json");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

extern const Command bench_command;
const Command bench_command = {"bench", "The table that nccl-tests would print, simulated", set_up};

}  // namespace isleway::cli
