#include "isleway/fabric/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "fabric/catalogue_index.hpp"
#include "fabric/catalogue_machine.hpp"
#include "fabric/catalogue_network.hpp"
#include "isleway/core/file.hpp"
#include "isleway/core/text.hpp"

namespace isleway {
namespace {

/// Of one kind in an expression; 100,000 GPUs are 12,500 servers.
constexpr std::int64_t kMaxUnits = 1'000'000;

bool is_data_folder(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::is_directory(folder / "parts", error);
}

/// Names that are files of the user's rather than of the catalogue.
bool is_file_name(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") ||
         name.find('/') != std::string_view::npos;
}

bool is_called(const CatalogueEntry& entry, std::string_view name) {
  return equal_ignoring_case(entry.name, name) ||
         std::any_of(entry.aliases.begin(), entry.aliases.end(),
                     [&](const std::string& alias) { return equal_ignoring_case(alias, name); });
}

struct Term {
  std::string name;
  std::int64_t count = 1;
};

/// "dgx-h100*4 + dgx-a100*2".
Result<std::vector<Term>> parse_expression(std::string_view expression) {
  std::vector<Term> terms;
  std::int64_t total = 0;
  for (const std::string_view piece : split(expression, '+')) {
    const auto star = piece.rfind('*');
    Term term{std::string(trim(piece.substr(0, star)))};
    if (star != std::string_view::npos) {
      const auto count = parse_int(piece.substr(star + 1));
      if (!count || *count < 1 || *count > kMaxUnits)
        return fail(fmt::format("\"{}\" is no number of machines", trim(piece.substr(star + 1))),
                    fmt::format("1 to {}, as in dgx-h100*16", kMaxUnits));
      term.count = *count;
    }
    if (term.name.empty())
      return fail(fmt::format("a machine's name is missing in \"{}\"", expression),
                  "such as dgx-h100, dgx-h100*16, or dgx-h100*4+dgx-a100*2");
    total += term.count;
    terms.push_back(std::move(term));
  }
  if (total > kMaxUnits)
    return fail(fmt::format("{} machines", total), fmt::format("at most {}", kMaxUnits));
  return terms;
}

}  // namespace

Result<Catalogue> Catalogue::open(std::filesystem::path folder) {
  auto parts = Parts::load(folder / "parts");
  if (!parts) return tl::unexpected(parts.error());
  Catalogue catalogue;
  catalogue.folder_ = std::move(folder);
  catalogue.parts_ = std::move(*parts);
  for (const auto& file : yaml_files(catalogue.folder_)) {
    const auto text = read_file(file);
    if (!text) return tl::unexpected(text.error());
    auto entry = read_entry(*text);
    if (!entry)
      return fail("the machine has no name", "a line 'name: my-machine'", {}, {file.string()});
    entry->file = file;
    catalogue.machines_.push_back(std::move(*entry));
  }
  std::sort(catalogue.machines_.begin(), catalogue.machines_.end(),
            [](const CatalogueEntry& a, const CatalogueEntry& b) { return a.name < b.name; });
  return catalogue;
}

Result<Catalogue> Catalogue::open_default() {
  if (const char* data = std::getenv("ISLEWAY_DATA")) {
    const std::filesystem::path folder(data);
    return open(is_data_folder(folder / "machines") ? folder / "machines" : folder);
  }
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (auto folder = program.parent_path(); !error; folder = folder.parent_path()) {
    for (const char* below : {"machines", "share/isleway/machines"})
      if (is_data_folder(folder / below)) return open(folder / below);
    if (folder == folder.root_path()) break;
  }
  return fail("the catalogue of machines was not found", "a folder machines/ above the program",
              "set ISLEWAY_DATA to the folder that holds machines/");
}

std::vector<std::string> Catalogue::network_names() const {
  std::vector<std::string> names;
  for (const auto& file : yaml_files(folder_ / "networks")) names.push_back(file.stem().string());
  return names;
}

Result<std::shared_ptr<const Unit>> Catalogue::unit(std::string_view name) const {
  std::filesystem::path file;
  if (is_file_name(name)) {
    file = name;
  } else {
    const auto entry = std::find_if(machines_.begin(), machines_.end(),
                                    [&](const CatalogueEntry& e) { return is_called(e, name); });
    if (entry == machines_.end()) {
      std::vector<std::string> known;
      for (const CatalogueEntry& e : machines_) {
        known.push_back(e.name);
        known.insert(known.end(), e.aliases.begin(), e.aliases.end());
      }
      return fail_unknown("machine", name, known);
    }
    file = entry->file;
  }
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  return unit_from_yaml(*text, file.string());
}

Result<NetworkPlan> Catalogue::network(std::string_view name) const {
  std::filesystem::path file(name);
  if (!is_file_name(name)) {
    const std::vector<std::string> names = network_names();
    const auto known = std::find_if(names.begin(), names.end(), [&](const std::string& n) {
      return equal_ignoring_case(n, name);
    });
    if (known == names.end()) return fail_unknown("network", name, names);
    file = folder_ / "networks" / (*known + ".yaml");
  }
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  return network_from_yaml(*text, file.string());
}

Result<std::shared_ptr<const Unit>> Catalogue::unit_from_yaml(const std::string& text,
                                                              const std::string& file) const {
  auto yaml = YamlFile::parse(text, file);
  if (!yaml) return tl::unexpected(yaml.error());
  UnitParts unit = MachineReader(parts_, *yaml).read();
  if (!yaml->ok()) return tl::unexpected(*yaml->error());
  auto made = Unit::make(std::move(unit));
  if (!made && made.error().where.file.empty()) made.error().where.file = file;
  return made;
}

Result<NetworkPlan> Catalogue::network_from_yaml(const std::string& text,
                                                 const std::string& file) const {
  auto yaml = YamlFile::parse(text, file);
  if (!yaml) return tl::unexpected(yaml.error());
  NetworkPlan plan = read_network(*yaml);
  if (!yaml->ok()) return tl::unexpected(*yaml->error());
  return plan;
}

Result<Fabric> Catalogue::fabric(std::string_view expression, std::string_view network_name) const {
  const auto terms = parse_expression(expression);
  if (!terms) return tl::unexpected(terms.error());
  std::vector<std::shared_ptr<const Unit>> templates;
  std::vector<std::uint32_t> unit_template;
  for (const Term& term : *terms) {
    auto made = unit(term.name);
    if (!made) return tl::unexpected(made.error());
    unit_template.insert(unit_template.end(), std::size_t(term.count),
                         static_cast<std::uint32_t>(templates.size()));
    templates.push_back(std::move(*made));
  }
  NetworkPlan plan;
  if (!network_name.empty()) {
    auto read = network(network_name);
    if (!read) return tl::unexpected(read.error());
    plan = std::move(*read);
  } else if (const Unit& first = *templates.front(); !first.nics().empty()) {
    // Without a network between them, what limits is the NIC itself.
    const NicPart* nic = parts_.nic(first.device(first.nics().front()).part);
    if (nic) {
      plan.efficiency = nic->efficiency;
      plan.technology = nic->technology;
    }
  }
  return Fabric::make(std::string(expression), std::move(templates), std::move(unit_template),
                      std::move(plan));
}

}  // namespace isleway
