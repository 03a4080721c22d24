#include "isleway/formats/machine_request.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "formats/expression.hpp"
#include "formats/index_list.hpp"
#include "isleway/core.hpp"
#include "isleway/fabric/join.hpp"
#include "isleway/formats.hpp"

namespace isleway::formats {
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

Result<Fabric> read_machine(const std::string& file, const MachineRequest& request,
                            const Catalogue& catalogue, Notices& notices) {
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  const std::string shown = file == "-" ? "standard input" : file;
  const auto document = read(*text, {&catalogue, shown, request.gpu, ReadContext::Want::machine});
  if (!document) return tl::unexpected(document.error());
  notices.append(document->notices);
  return to_fabric(*document);
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

Result<Fabric> build(const MachineRequest& request, const Catalogue& catalogue, Notices& notices) {
  const auto terms = parse_expression(request.machine);
  if (!terms) return tl::unexpected(terms.error());
  const bool any_file =
      std::any_of(terms->begin(), terms->end(), [](const auto& term) { return term.is_file; });
  std::optional<NetworkPlan> network;
  if (!request.network.empty()) {
    auto plan = read_network(request.network, catalogue);
    if (!plan) return tl::unexpected(with_hint(plan.error(), "a network's YAML file"));
    network = std::move(*plan);
  }
  if (!any_file)
    return catalogue.fabric(request.machine, request.network).map_error(with_file_hint);
  Units units;
  for (const MachineTerm& term : *terms) {
    const auto fabric = term.is_file ? read_machine(term.name, request, catalogue, notices)
                                     : catalogue.fabric(term.name).map_error(with_file_hint);
    if (!fabric) return fabric;
    if (terms->size() == 1 && term.count == 1 && !network) return fabric;
    units.add(*fabric, term.count);
  }
  if (network) units.plan = std::move(*network);
  return Fabric::make(request.machine, units.templates, units.unit_template, units.plan);
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

Result<Fabric> make_machine(const MachineRequest& request, const Catalogue& catalogue,
                            Notices& notices) {
  return build(request, catalogue, notices)
      .and_then(
          [&](const Fabric& fabric) { return with_joined_hosts(fabric, request.nvlink_hosts); })
      .and_then([&](Fabric fabric) { return with_faults(std::move(fabric), request.faults); })
      .and_then([&](const Fabric& fabric) { return with_mode(fabric, request.confidential); })
      .and_then([&](const Fabric& fabric) {
        return with_list(fabric, request.partition, "--partition", with_partition);
      })
      .and_then(
          [&](const Fabric& fabric) { return with_list(fabric, request.mig, "--mig", with_mig); })
      .and_then([&](const Fabric& fabric) {
        return with_list(fabric, request.gpus, "--gpus", with_gpus);
      })
      .and_then([&](const Fabric& fabric) {
        return request.first_gpus > 0 ? with_first_gpus(fabric, request.first_gpus)
                                      : Result<Fabric>(fabric);
      })
      .and_then([&](const Fabric& fabric) {
        return request.ranks > 0 ? with_first_ranks(fabric, request.ranks) : Result<Fabric>(fabric);
      });
}

}  // namespace isleway::formats
