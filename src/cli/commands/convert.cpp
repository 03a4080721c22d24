// isleway convert: from any format that is read to any that is written.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>

#include "cli/command.hpp"
#include "cli/machine.hpp"
#include "cli/nccl_options.hpp"
#include "cli/option_group.hpp"
#include "isleway/core.hpp"
#include "isleway/formats.hpp"
#include "isleway/nccl/dump.hpp"
#include "isleway/report.hpp"

namespace isleway::cli {
namespace {

struct Options {
  MachineOptions machine;
  NcclOptions nccl;
  std::string format, output;
  formats::WriteOptions write;
  int rank = 0;
};

/// What NCCL would write about the machine: not a description of it, but its choices on it.
struct NcclText {
  const char* name;
  const char* title;
  Result<std::string> (*write)(const Fabric& fabric, const nccl::Options& nccl,
                               const Options& options);
};

constexpr std::array<NcclText, 2> kNcclTexts = {{
    {"nccl-graph", "NCCL's graph file, as NCCL_GRAPH_DUMP_FILE",
     [](const Fabric& fabric, const nccl::Options& nccl, const Options& options) {
       return nccl::graph_dump(fabric, nccl, options.rank);
     }},
    {"nccl-info", "the lines of NCCL_DEBUG=INFO about topology, graphs and channels",
     [](const Fabric& fabric, const nccl::Options& nccl, const Options& options) {
       return nccl::info_lines(fabric, nccl, options.rank, options.write.include_all);
     }},
}};

std::string format_list() {
  std::string text = "Formats that are written (--to):\n";
  for (const formats::Writer* writer : formats::writers())
    text += fmt::format("  {:<14} {}\n", writer->name, writer->title);
  for (const NcclText& nccl : kNcclTexts)
    text += fmt::format("  {:<14} {}\n", nccl.name, nccl.title);
  text += fmt::format("  {:<14} {}\n", "svg", "a picture of the machine");
  text += "Formats that are read (told apart by content):\n";
  for (const formats::Reader* reader : formats::readers())
    text += fmt::format("  {:<14} {}\n", reader->name, reader->title);
  return text;
}

Result<std::string> converted(const Fabric& fabric, const Options& options) {
  if (options.format == "svg") return report::machine_svg(fabric);
  if (const formats::Writer* writer = formats::find_writer(options.format))
    return writer->write(fabric, options.write);
  for (const NcclText& text : kNcclTexts)
    if (options.format == text.name)
      return understand(options.nccl, nccl::environment())
          .and_then([&](const NcclRequest& request) {
            return text.write(fabric, request.options, options);
          });
  std::vector<std::string> names = {"svg"};
  for (const NcclText& text : kNcclTexts) names.emplace_back(text.name);
  for (const formats::Writer* writer : formats::writers()) names.emplace_back(writer->name);
  return fail_unknown("format", options.format, names);
}

int run(const Options& options, Session& session) {
  if (options.format.empty()) return print(format_list());
  if (options.machine.machine.empty())
    return report(Error{{}, "no machine is given", "a file or a catalogue name", ""});
  const auto fabric = resolve_machine(options.machine, session);
  if (!fabric) return report(fabric.error());
  const auto text = converted(*fabric, options);
  if (!text) return report(text.error());
  return print_to(options.output, *text);
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_machine_options(app, options->machine, MachineArgument::positional);
  app.get_option("MACHINE")->required(false);
  app.add_option("-t,--to", options->format, "The format to write; without it, all are listed")
      ->type_name("FORMAT");
  app.add_option("-o,--output", options->output, "The file to write, instead of standard output")
      ->type_name("FILE");
  app.add_option("--unit", options->write.unit, "Which node, for formats that describe one")
      ->type_name("N");
  app.add_option("--host", options->write.host, "Which host of a rack, for formats of one host")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 16));
  app.add_flag("--all", options->write.include_all, "All nodes, and what is usually left out");
  OptionGroup nccl(app, "For nccl-graph and nccl-info");
  nccl.add("--rank", options->rank, "As this rank writes it", "N");
  add_nccl_version_options(nccl, options->nccl);
  app.footer(
      "Examples:\n"
      "  isleway convert topo.txt --to nccl-xml -o topo.xml\n"
      "  isleway convert dgx-a100 --to topo-m\n"
      "  isleway convert gb200-nvl72 --to svg -o nvl72.svg\n"
      "  isleway convert dgx-h100*4 --to nccl-info --env NCCL_NVLS_ENABLE=0\n"
      "  isleway convert                     (lists the formats)");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

extern const Command convert_command;
const Command convert_command = {"convert", "Reads any known format and writes another", set_up};

}  // namespace isleway::cli
