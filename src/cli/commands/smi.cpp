// isleway smi: what nvidia-smi would print on the machine.
#include "isleway/virtual/smi.hpp"

#include <CLI/CLI.hpp>
#include <array>

#include "cli/command.hpp"
#include "cli/machine.hpp"
#include "isleway/core.hpp"
#include "isleway/virtual/script.hpp"

namespace isleway::cli {
namespace {

using vgpu::nvml::Monitor;
using vgpu::nvml::PeerCapability;
using vgpu::smi::NvlinkView;
using vgpu::smi::Selection;

struct Options {
  MachineOptions machine;
  std::string world;
  std::uint32_t node = 0;
  bool list = false, query = false, xml = false;
  std::string ids, sections, fields, format;
  int link = -1;
  CLI::App *topo = nullptr, *nvlink = nullptr;
  bool matrix = false;
  /// "-p2p r" as the command line's parser takes it: a -p with the value "2p"; "-gt d" likewise.
  std::string p2p, capability, throughput, counted;
  std::array<bool, 4> views{};
};

/// A run that nothing happens in, or one that goes on elsewhere.
Result<std::unique_ptr<vgpu::World>> make_world(const Options& options) {
  if (!options.world.empty()) return vgpu::World::visit(options.world);
  vgpu::RunPlan plan;
  plan.machine = options.machine;
  return vgpu::World::create(plan);
}

Result<std::string> topo(Monitor& monitor, const Options& options) {
  if (options.matrix) return vgpu::smi::topology(monitor);
  const std::size_t which = std::string_view("rwnap").find(options.capability);
  if (options.p2p == "2p" && options.capability.size() == 1 && which != std::string_view::npos)
    return vgpu::smi::peers(monitor, static_cast<PeerCapability>(which));
  return fail("topo needs to know what to print", "topo -m, or topo -p2p r (w, n, a, p)");
}

Result<std::string> nvlink(Monitor& monitor, const Options& options, const Selection& gpus) {
  for (std::size_t view = 0; view < options.views.size(); ++view)
    if (options.views[view])
      return vgpu::smi::nvlink(monitor, static_cast<NvlinkView>(view), gpus, options.link);
  if (options.throughput == "t")
    return vgpu::smi::nvlink(monitor, NvlinkView::throughput, gpus, options.link);
  return fail("nvlink needs to know what to print", "nvlink -s, -c, -e, -R or -gt d");
}

Result<std::string> text_of(Monitor& monitor, const Options& options) {
  if (options.topo->parsed()) return topo(monitor, options);
  const auto gpus = vgpu::smi::select_gpus(monitor, options.ids);
  if (!gpus) return tl::unexpected(gpus.error());
  if (options.nvlink->parsed()) return nvlink(monitor, options, *gpus);
  if (options.list) return vgpu::smi::list(monitor, *gpus);
  if (!options.fields.empty())
    return vgpu::smi::csv(monitor, *gpus, options.fields, options.format);
  const auto sections = vgpu::smi::sections_of(options.sections);
  if (!sections) return tl::unexpected(sections.error());
  if (options.query || options.xml)
    return vgpu::smi::query(monitor, {options.xml, *sections}, *gpus);
  return vgpu::smi::table(monitor, *gpus);
}

int run(const Options& options) {
  if (options.machine.machine.empty() && options.world.empty())
    return report(Error{{}, "which machine is meant?", "-m MACHINE, or --world NAME of a run", ""});
  const auto world = make_world(options);
  if (!world) return report(world.error());
  const Fabric& machine = (*world)->machine();
  if (options.node >= machine.host_count())
    return report(Error{{},
                        "there is no node " + std::to_string(options.node),
                        "0 to " + std::to_string(machine.host_count() - 1),
                        {}});
  auto monitor = Monitor::make(**world, options.node);
  if (!monitor) return report(monitor.error());
  const auto text = text_of(*monitor, options);
  return text ? print(*text) : report(text.error());
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_machine_options(app, options->machine, MachineArgument::option);
  app.get_option("--machine")->required(false);
  app.add_option("--world", options->world, "A run that goes on, as `isleway run -v` names it")
      ->type_name("NAME");
  app.add_option("--node", options->node, "On which node of several")->type_name("N");
  app.add_flag("-L,--list-gpus", options->list, "The GPUs and their UUIDs");
  app.add_flag("-q,--query", options->query, "Everything about every GPU");
  app.add_flag("-x,--xml-format", options->xml, "With -q: as XML");
  app.add_option("-d,--display", options->sections, "With -q: only these parts: ECC,MEMORY,...")
      ->type_name("PARTS");
  const auto add_ids = [&options](CLI::App& to) {
    to.add_option("-i,--id", options->ids, "Only these GPUs: indices, UUIDs or PCI bus ids")
        ->type_name("IDS");
  };
  add_ids(app);
  app.add_option("--query-gpu", options->fields, "Values of every GPU, with --format=csv")
      ->type_name("FIELDS");
  app.add_option("--format", options->format, "csv, and noheader, nounits")->type_name("FORMAT");
  options->topo = app.add_subcommand("topo", "What is near to what");
  options->topo->add_flag("-m", options->matrix, "The matrix");
  options->topo->add_option("-p", options->p2p, "-p2p r: who may reach whom");
  options->topo->add_option("CAPABILITY", options->capability, "r, w, n, a or p")->type_name("");
  options->nvlink = app.add_subcommand("nvlink", "Links of every GPU");
  add_ids(*options->nvlink);
  options->nvlink->add_option("-l,--link", options->link, "Only this link")->type_name("LINK");
  options->nvlink->add_flag("-s,--status", options->views[0], "Rates");
  options->nvlink->add_flag("-c,--capabilities", options->views[1], "What they can do");
  options->nvlink->add_flag("-e,--errorcounters", options->views[2], "Errors");
  options->nvlink->add_flag("-R,--remotelinkinfo", options->views[3], "Their other ends");
  options->nvlink->add_option("-g", options->throughput, "-gt d: bytes that they have carried");
  options->nvlink->add_option("COUNTED", options->counted, "d: data")->type_name("");
  app.footer(
      "Examples:\n"
      "  isleway smi -m dgx-h100\n"
      "  isleway smi -m dgx-a100 --fail gpu3:nvlink5 nvlink -s\n"
      "  isleway smi -m dgx-h100 --query-gpu=index,name,memory.total --format=csv\n"
      "  isleway smi -m gb200-nvl72 --node 3 topo -m\n"
      "  isleway smi -m h100-nvl-8 topo -p2p r\n"
      "  isleway smi -m dgx-h100 --fail gpu2:ecc:uncorrected=1 -q -x");
  return [options](Session&) { return run(*options); };
}

}  // namespace

extern const Command smi_command;
const Command smi_command = {"smi", "What nvidia-smi would print on the machine", set_up};

}  // namespace isleway::cli
