// isleway check: what is wrong with a machine or a cluster, by what its outputs state.
#include "isleway/check.hpp"

#include <CLI/CLI.hpp>
#include <iterator>
#include <map>

#include "cli/command.hpp"
#include "cli/machine.hpp"
#include "cli/option_group.hpp"
#include "isleway/core.hpp"
#include "isleway/formats/live_signals.hpp"
#include "isleway/formats/read_signals.hpp"
#include "isleway/report.hpp"

namespace isleway::cli {
namespace {

struct Options {
  std::vector<std::string> files, rules;
  MachineOptions machine;
  std::string junit, html, save, against, gate;
  bool markdown = false, live = false;
};

template <class T>
Result<T> read_with(const std::string& path,
                    Result<T> (*parse)(const std::string& text, const std::string& file)) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse(*text, path);
}

/// The rules that came with the program, and the user's.
Result<check::RuleBook> load_rules(const Options& options, const Catalogue& catalogue) {
  auto book = check::RuleBook::load(catalogue.folder().parent_path() / "rules");
  if (!book) return book;
  for (const std::string& path : options.rules) {
    const auto text = read_file(path);
    if (!text) return tl::unexpected(text.error());
    if (auto added = book->add(*text, path); !added) return tl::unexpected(added.error());
  }
  return book;
}

/// Whether an output of this kind also holds a machine or measurements as other commands read
/// them.
bool has_content(const std::string& kind) {
  return kind == "benchmarks" || kind == "nccl-log" || kind == "nccl-xml" || kind == "hwloc";
}

/// Machines and measurements in the files that hold some.
std::vector<check::Content> read_contents(const formats::Signals& signals,
                                          const Catalogue& catalogue) {
  using Want = formats::ReadContext::Want;
  std::vector<check::Content> contents;
  std::map<std::string, std::string> node_of;
  for (const formats::Signal& signal : signals)
    if (signal.name == "output.read" && has_content(signal.subject))
      node_of.emplace(signal.where.file, signal.node);
  for (const auto& [file, node] : node_of) {
    const auto text = read_file(file);
    if (!text) continue;  // inside an archive: only its signals are judged
    for (const Want want : {Want::machine, Want::measurements})
      if (auto document = formats::read(*text, {&catalogue, file, "", want}))
        contents.push_back({node, file, *std::move(document)});
  }
  return contents;
}

/// The files, and this machine where it is asked for.
Result<formats::SignalsRead> read_all(const Options& options) {
  formats::SignalsRead all;
  if (!options.files.empty()) {
    auto read = formats::read_signals({options.files.begin(), options.files.end()});
    if (!read) return read;
    all = *std::move(read);
  } else if (!options.live) {
    return fail("nothing to check", "FILE, or --live for this machine",
                "nvidia-smi topo -m | isleway check -");
  }
  if (!options.live) return all;
  auto live = formats::read_live_signals({});
  all.signals.insert(all.signals.end(), std::make_move_iterator(live.signals.begin()),
                     std::make_move_iterator(live.signals.end()));
  all.notices.append(live.notices);
  return all;
}

Result<void> write_pages(const Options& options, const check::Report& report) {
  if (!options.junit.empty())
    if (auto done = write_file(options.junit, report::check_junit(report)); !done) return done;
  if (!options.html.empty())
    if (auto done = write_file(options.html, report::check_html(report)); !done) return done;
  return {};
}

Exit status_of(check::Severity verdict) {
  switch (verdict) {
    case check::Severity::critical: return Exit::critical;
    case check::Severity::warning: return Exit::warning;
    case check::Severity::unknown: return Exit::unknown;
    default: return Exit::good;
  }
}

int run(const Options& options, Session& session) {
  const auto catalogue = session.catalogue();
  if (!catalogue) return report(catalogue.error());
  const auto rules = load_rules(options, **catalogue);
  if (!rules) return report(rules.error());
  check::Context context{**catalogue, *rules, {}, {}, {}};
  if (!options.machine.machine.empty()) {
    auto machine = resolve_machine(options.machine, session);
    if (!machine) return report(machine.error());
    context.machine = *std::move(machine);
  }
  if (!options.against.empty()) {
    auto baseline = read_with(options.against, &check::Baseline::from_json);
    if (!baseline) return report(baseline.error());
    context.baseline = *std::move(baseline);
  }
  if (!options.gate.empty()) {
    auto gate = read_with(options.gate, &check::Gate::from_yaml);
    if (!gate) return report(gate.error());
    context.gate = *std::move(gate);
  }

  auto read = read_all(options);
  if (!read) return report(read.error());
  report(read->notices, session);
  check::Input input{std::move(read->signals), {}};
  check::name_nodes(input.signals);
  input.contents = read_contents(input.signals, **catalogue);
  const check::Report found = check::check(input, context);

  if (!options.save.empty()) {
    const auto saved = check::Baseline::of(input.signals, rules->profile);
    if (auto done = write_file(options.save, saved.to_json()); !done) return report(done.error());
  }
  if (auto done = write_pages(options, found); !done) return report(done.error());
  const int printed = print(session.json       ? report::check_json(found)
                            : session.quiet    ? report::check_line(found)
                            : options.markdown ? report::check_markdown(found)
                                               : report::check_text(found, session.verbose));
  return printed != Exit::good ? printed : status_of(found.verdict());
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->files,
                 "Outputs of any tools, also several in one file, folders, archives; - reads "
                 "standard input")
      ->type_name("");
  app.add_flag("--live", options->live,
               "Also this machine: NVML, /sys and /proc, as far as readable");
  add_machine_options(app, options->machine, MachineArgument::option);
  app.get_option("--machine")->required(false);
  OptionGroup rules(app, "Rules and targets");
  rules.add_repeated("--rules", options->rules, "Rules of your own, beside those of Isleway",
                     "FILE");
  rules.add("--against", options->against, "What has changed since this saved state", "BASELINE");
  rules.add("--save", options->save, "Save the state, for --against", "BASELINE");
  rules.add("--gate", options->gate, "Targets of a rollout, as pass or fail", "FILE");
  OptionGroup forms(app, "Report");
  forms.add_flag("--markdown", options->markdown, "As Markdown, for an issue");
  forms.add("--junit", options->junit, "Also as JUnit XML", "FILE");
  forms.add("--html", options->html, "Also as one HTML page", "FILE");
  app.footer(
      "Examples:\n"
      "  nvidia-smi topo -m | isleway check -\n"
      "  isleway check paste.txt dmesg.txt -m dgx-h100\n"
      "  isleway check nodes/ --html report.html\n"
      "  isleway check --live\n"
      "  isleway check -q nvidia-bug-report.log.gz\n"
      "  isleway check node7/ --against monday.json");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

extern const Command check_command;
const Command check_command = {"check", "What is wrong with a machine, and what to do", set_up};

}  // namespace isleway::cli
