// isleway show: the machine in words, as a matrix, as a picture.
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/machine.hpp"
#include "isleway/core.hpp"
#include "isleway/formats.hpp"
#include "isleway/report.hpp"

namespace isleway::cli {
namespace {

/// Beyond this many GPUs on a host nobody reads the matrix.
constexpr std::size_t kMostGpusInMatrix = 32;

struct Options {
  MachineOptions machine;
  std::string svg, load;
};

/// What `nvidia-smi topo -m` prints on the first host; clusters and racks have no matrix.
std::string matrix(const Fabric& fabric) {
  const formats::Writer* writer = formats::find_writer("topo-m");
  if (writer == nullptr || fabric.host_count() != 1 || fabric.gpu_count() > kMostGpusInMatrix)
    return {};
  const auto text = writer->write(fabric, {});
  return text ? "\n" + *text : "";
}

int run(const Options& options, Session& session) {
  const auto fabric = resolve_machine(options.machine, session);
  if (!fabric) return report(fabric.error());
  report::LinkShares loads;
  if (!options.load.empty()) {
    if (options.svg.empty())
      return report(Error{{}, "--load colours the links of a picture", "--svg FILE", ""});
    const auto text = read_file(options.load);
    if (!text) return report(text.error());
    auto read = report::read_link_loads(*fabric, *text, options.load);
    if (!read) return report(read.error());
    loads = *std::move(read);
  }
  if (!options.svg.empty()) {
    const auto picture = report::machine_svg(*fabric, loads);
    if (!picture) return report(picture.error());
    if (const int status = print_to(options.svg, *picture); status != Exit::good) return status;
    if (options.svg == "-") return Exit::good;
  }
  const Parts& parts = (*session.catalogue())->parts();
  return print(session.json ? report::machine_json(*fabric, parts)
                            : report::machine_text(*fabric, parts) + matrix(*fabric));
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_machine_options(app, options->machine, MachineArgument::positional);
  app.add_option("--svg", options->svg, "Also draw a picture into this file (- instead of words)")
      ->type_name("FILE");
  app.add_option(
         "--load", options->load,
         "With --svg: colour links by how busy they were, as `bench --trace FILE.csv` wrote")
      ->type_name("FILE");
  app.footer(
      "Examples:\n"
      "  isleway show dgx-h100\n"
      "  isleway show 'dgx-h100*16' --network ndr400-rail\n"
      "  nvidia-smi topo -m | isleway show - --gpu h100-sxm\n"
      "  isleway show gb200-nvl72 --svg nvl72.svg\n"
      "  isleway show dgx-a100 --fail gpu3:nvlink5\n"
      "  isleway show dgx-h100 --load loads.csv --svg busy.svg");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

extern const Command show_command;
const Command show_command = {"show", "A machine: islands, links, NICs, matrix, picture", set_up};

}  // namespace isleway::cli
