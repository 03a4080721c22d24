// isleway compare: a measurement against what the machine should deliver.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/machine.hpp"
#include "cli/nccl_options.hpp"
#include "cli/option_group.hpp"
#include "isleway/core.hpp"
#include "isleway/report.hpp"
#include "isleway/verify.hpp"

namespace isleway::cli {
namespace {

struct Options {
  MachineOptions machine;
  NcclOptions nccl;
  std::string measured, collective, engine = "analytic";
};

/// The file, read once, and what is in it.
struct Measured {
  std::string text, shown;
  formats::Document document;
  formats::NcclInfo log;
};

Result<Measured> read_measured(const Options& options, const Catalogue& catalogue) {
  Measured measured;
  auto text = read_file(options.measured);
  if (!text) return tl::unexpected(text.error());
  measured.text = *std::move(text);
  measured.shown = options.measured == "-" ? "standard input" : options.measured;
  auto document = formats::read(measured.text, {&catalogue, measured.shown, options.machine.gpu,
                                                formats::ReadContext::Want::measurements});
  if (!document) return tl::unexpected(document.error());
  measured.document = *std::move(document);
  measured.log = formats::find_nccl_info(measured.text);
  return measured;
}

/// The GPUs and hosts that a file of measurements lists; of the first table that does.
std::pair<std::vector<std::string>, std::vector<std::string>> devices_of(
    const formats::Document& document) {
  if (const auto* tables = std::get_if<formats::NcclTestsTables>(&document.content)) {
    for (const formats::NcclTestsTable& table : *tables)
      if (!table.devices.empty()) return {table.devices, table.hosts};
  }
  if (const auto* copies = std::get_if<formats::CopyTables>(&document.content))
    return {copies->devices, {}};
  return {};
}

/// -m, or the topology in NCCL's log, or what the GPUs' names stand for.
Result<Fabric> machine_of(const Options& options, const Measured& measured,
                          const Catalogue& catalogue, Session& session) {
  if (!options.machine.machine.empty()) return resolve_machine(options.machine, session);
  const auto machine = formats::read(
      measured.text,
      {&catalogue, measured.shown, options.machine.gpu, formats::ReadContext::Want::machine});
  if (machine)
    if (auto fabric = formats::to_fabric(*machine)) return fabric;
  const auto [devices, hosts] = devices_of(measured.document);
  auto guess = verify::guess_machine(catalogue, devices, hosts);
  if (!guess) return tl::unexpected(guess.error());
  Notices notices;
  std::string others;
  for (std::size_t i = 1; i < guess->names.size(); ++i)
    others += (others.empty() ? "" : ", ") + guess->names[i];
  notices.assumed({measured.shown},
                  fmt::format("measured on {}, by its GPUs{}", guess->names[0],
                              others.empty() ? "" : "; others have them too: " + others));
  report(notices, session);
  return std::move(guess->fabric);
}

Result<void> compare_all(const Options& options, Measured& measured, const verify::Setup& setup,
                         const verify::CompareContext& context, report::ComparedFile& file) {
  if (auto* tables = std::get_if<formats::NcclTestsTables>(&measured.document.content)) {
    for (formats::NcclTestsTable& table : *tables) {
      if (!options.collective.empty()) table.collective = options.collective;
      auto comparison = verify::compare_table(table, setup, context);
      if (!comparison) return tl::unexpected(comparison.error());
      file.comparisons.push_back(*std::move(comparison));
    }
  } else if (auto* copies = std::get_if<formats::CopyTables>(&measured.document.content)) {
    auto comparisons = verify::compare_copies(*copies, setup, context, file.skipped);
    if (!comparisons) return tl::unexpected(comparisons.error());
    file.comparisons = *std::move(comparisons);
  } else if (measured.log.empty()) {
    return fail("holds no measurement and no log of NCCL",
                "output of nccl-tests, nvbandwidth, p2pBandwidthLatencyTest or NCCL's log", "",
                {measured.shown});
  }
  auto findings = verify::check_log(setup, context);
  if (!findings) return tl::unexpected(findings.error());
  file.findings = *std::move(findings);
  return {};
}

Exit status_of(verify::Verdict verdict) {
  switch (verdict) {
    case verify::Verdict::good: return Exit::good;
    case verify::Verdict::warning: return Exit::warning;
    case verify::Verdict::critical: return Exit::critical;
    case verify::Verdict::unknown: break;
  }
  return Exit::unknown;
}

int run(const Options& options, Session& session) {
  const auto request = understand(options.nccl, nccl::environment());
  if (!request) return report(request.error());
  const auto engine = make_engine(options.engine);
  if (!engine) return report(engine.error());
  const auto catalogue = session.catalogue();
  if (!catalogue) return report(catalogue.error());
  auto measured = read_measured(options, **catalogue);
  if (!measured) return report(measured.error());
  report(measured->document.notices, session);
  auto fabric = machine_of(options, *measured, **catalogue, session);
  if (!fabric) return report(fabric.error());

  report::ComparedFile file;
  file.machine = fabric->name();
  const verify::Setup setup{*std::move(fabric), request->options};
  const verify::CompareContext context{(*catalogue)->parts(), **engine, measured->log};
  if (auto done = compare_all(options, *measured, setup, context, file); !done)
    return report(done.error());
  const int printed = print(session.json ? report::comparison_json(file)
                                         : report::comparison_text(file, session.verbose));
  return printed != Exit::good ? printed : status_of(file.verdict());
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("MEASURED", options->measured,
                 "Output of nccl-tests, nvbandwidth (text or JSON), p2pBandwidthLatencyTest, or "
                 "NCCL's log; - reads standard input")
      ->required()
      ->type_name("");
  add_machine_options(app, options->machine, MachineArgument::option);
  app.get_option("--machine")->required(false);
  OptionGroup measured(app, "Measurement");
  measured.add("--collective", options->collective, "Which one, for tables that do not say",
               "NAME");
  add_nccl_options(app, options->nccl);
  add_engine_option(app, options->engine);
  app.footer(
      "Examples:\n"
      "  isleway compare all_reduce.txt -m dgx-h100\n"
      "  all_reduce_perf -b 8 -e 8G -f 2 -g 8 | isleway compare -\n"
      "  isleway compare job.log -m 'dgx-h100*4' --network ndr400-rail\n"
      "  nvbandwidth --json | isleway compare - -m dgx-a100 --json");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

extern const Command compare_command;
const Command compare_command = {
    "compare", "A measurement against the expectation, with the causes that fit", set_up};

}  // namespace isleway::cli
