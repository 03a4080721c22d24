#include "cli/machine.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/expression.hpp"
#include "cli/lists.hpp"
#include "cli/option_group.hpp"
#include "isleway/core.hpp"
#include "isleway/fabric/join.hpp"
#include "isleway/formats.hpp"

namespace isleway::cli {
namespace {

/// Units gathered from several terms, ready for Fabric::make.
struct Units {
  std::vector<std::shared_ptr<const Unit>> templates;
  std::vector<std::uint32_t> unit_template;
  NetworkPlan plan;

  void add(const Fabric& fabric, std::uint32_t copies) {
    const auto base = static_cast<std::uint32_t>(templates.size());
    templates.insert(templates.end(), fabric.templates().begin(), fabric.templates().end());
    for (std::uint32_t i = 0; i < copies; ++i)
      for (const std::uint32_t unit : fabric.unit_templates()) unit_template.push_back(base + unit);
  }
};

Result<Fabric> read_machine(const std::string& file, const MachineOptions& options,
                            const Catalogue& catalogue, const Session& session) {
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  const std::string shown = file == "-" ? "standard input" : file;
  const auto document =
      formats::read(*text, {&catalogue, shown, options.gpu, formats::ReadContext::Want::machine});
  if (!document) return tl::unexpected(document.error());
  report(document->notices, session);
  return formats::to_fabric(*document);
}

Result<NetworkPlan> read_network(const std::string& name, const Catalogue& catalogue) {
  std::error_code ignored;
  if (!std::filesystem::exists(name, ignored)) return catalogue.network(name);
  const auto text = read_file(name);
  if (!text) return tl::unexpected(text.error());
  return catalogue.network_from_yaml(*text, name);
}

/// Names that are neither files nor in the catalogue were probably meant to be one or the
/// other; the catalogue's own message knows only of the latter.
Error with_hint(Error error, const char* what) {
  error.hint += (error.hint.empty() ? "" : ", or ") + std::string("the path of ") + what +
                "; isleway machines lists the names";
  return error;
}
Error with_file_hint(Error error) {
  return with_hint(std::move(error), "a file that describes a machine");
}

Result<Fabric> build(const MachineOptions& options, const Catalogue& catalogue,
                     const Session& session) {
  const auto terms = parse_expression(options.machine);
  if (!terms) return tl::unexpected(terms.error());
  const bool any_file =
      std::any_of(terms->begin(), terms->end(), [](const auto& term) { return term.is_file; });
  std::optional<NetworkPlan> network;
  if (!options.network.empty()) {
    auto plan = read_network(options.network, catalogue);
    if (!plan) return tl::unexpected(with_hint(plan.error(), "a network's YAML file"));
    network = std::move(*plan);
  }
  if (!any_file)
    return catalogue.fabric(options.machine, options.network).map_error(with_file_hint);
  Units units;
  for (const MachineTerm& term : *terms) {
    const auto fabric = term.is_file ? read_machine(term.name, options, catalogue, session)
                                     : catalogue.fabric(term.name).map_error(with_file_hint);
    if (!fabric) return fabric;
    if (terms->size() == 1 && term.count == 1 && !network) return fabric;
    units.add(*fabric, term.count);
  }
  if (network) units.plan = std::move(*network);
  return Fabric::make(options.machine, units.templates, units.unit_template, units.plan);
}

Result<Fabric> with_faults(Fabric fabric, const std::vector<std::string>& faults) {
  for (const std::string& fault : faults) {
    auto changed = with_fault(fabric, fault);
    if (!changed) return changed;
    fabric = std::move(*changed);
  }
  return fabric;
}

/// Applies `change` to the fabric and an option's list of indices; not given: no change.
template <class Change>
Result<Fabric> with_list(const Fabric& fabric, const std::string& list, const char* option,
                         Change change) {
  if (list.empty()) return fabric;
  if (list == "all") return change(fabric, std::vector<int>{});
  const auto indices = parse_indices(list, option);
  if (!indices) return tl::unexpected(indices.error());
  return change(fabric, *indices);
}

Result<Fabric> with_mode(const Fabric& fabric, const std::string& confidential) {
  if (confidential.empty()) return fabric;
  const auto mode = parse_confidential(confidential);
  if (!mode) return tl::unexpected(mode.error());
  return with_confidential(fabric, *mode);
}

}  // namespace

void add_machine_options(CLI::App& app, MachineOptions& options, MachineArgument argument) {
  const char* what =
      "A catalogue name (dgx-h100), several (dgx-h100*16), or a file that describes "
      "a machine; - reads standard input";
  app.add_option(argument == MachineArgument::positional ? "MACHINE" : "-m,--machine",
                 options.machine, what)
      ->required()
      ->type_name(argument == MachineArgument::positional ? "" : "MACHINE");
  OptionGroup machine(app, "Machine");
  machine.add("--network", options.network, "Network between nodes: a name or a YAML file",
              "NETWORK");
  machine.add("--gpu", options.gpu, "The GPU, for files that do not name it", "PART");
  machine.add("-g,--ngpus", options.first_gpus, "Only the first N GPUs of each node", "N")
      ->check(CLI::Range(1, 4096));
  machine.add("--gpus", options.gpus, "Only these GPUs of each node: 0,1,4 or 0-3", "LIST")
      ->excludes("--ngpus");
  machine.add("--ranks", options.ranks, "Only the first N GPUs of all nodes together", "N")
      ->check(CLI::Range(1, 1 << 24));
  machine
      .add("--nvlink-hosts", options.nvlink_hosts,
           "Every N machines share their NVSwitches, as trays of a rack do", "N")
      ->check(CLI::Range(1, 4096));
  machine.add_repeated("--fail", options.faults,
                       "Something broken, may be repeated: gpu3:nvlink5, nvswitch1, mlx5_0, "
                       "gpu3:pcie:lanes=8",
                       "FAULT");
  machine.add("--mig", options.mig, "MIG mode on these GPUs, or on all", "LIST|all");
  machine.add("--partition", options.partition, "A shared-NVSwitch partition of these GPUs",
              "LIST");
  machine.add("--confidential", options.confidential,
              "Confidential computing: hopper-cc, hopper-ppcie or blackwell", "MODE");
}

Result<Fabric> resolve_machine(const MachineOptions& options, Session& session) {
  const auto catalogue = session.catalogue();
  if (!catalogue) return tl::unexpected(catalogue.error());
  return build(options, **catalogue, session)
      .and_then(
          [&](const Fabric& fabric) { return with_joined_hosts(fabric, options.nvlink_hosts); })
      .and_then([&](Fabric fabric) { return with_faults(std::move(fabric), options.faults); })
      .and_then([&](const Fabric& fabric) { return with_mode(fabric, options.confidential); })
      .and_then([&](const Fabric& fabric) {
        return with_list(fabric, options.partition, "--partition", with_partition);
      })
      .and_then(
          [&](const Fabric& fabric) { return with_list(fabric, options.mig, "--mig", with_mig); })
      .and_then([&](const Fabric& fabric) {
        return with_list(fabric, options.gpus, "--gpus", with_gpus);
      })
      .and_then([&](const Fabric& fabric) {
        return options.first_gpus > 0 ? with_first_gpus(fabric, options.first_gpus)
                                      : Result<Fabric>(fabric);
      })
      .and_then([&](const Fabric& fabric) {
        return options.ranks > 0 ? with_first_ranks(fabric, options.ranks) : Result<Fabric>(fabric);
      });
}

}  // namespace isleway::cli
