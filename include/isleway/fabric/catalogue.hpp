// Machines and networks by name, from the YAML files in machines/.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "isleway/fabric/fabric.hpp"
#include "isleway/fabric/parts.hpp"

namespace isleway {

struct CatalogueEntry {
  std::string name, title, status;  ///< status: "released" or "announced"
  std::vector<std::string> aliases;
  std::filesystem::path file;
};

class Catalogue {
 public:
  /// Opens a folder shaped as machines/: parts/, networks/, and one YAML file a machine.
  /// Machine files are indexed now and parsed when asked for.
  static Result<Catalogue> open(std::filesystem::path folder);

  /// The folder that came with this program: $ISLEWAY_DATA/machines, or found from where
  /// the executable lies.
  static Result<Catalogue> open_default();

  const std::filesystem::path& folder() const { return folder_; }
  const Parts& parts() const { return parts_; }
  /// Every machine, by name.
  const std::vector<CatalogueEntry>& machines() const { return machines_; }
  std::vector<std::string> network_names() const;

  Result<std::shared_ptr<const Unit>> unit(std::string_view name) const;
  Result<NetworkPlan> network(std::string_view name) const;

  /// A unit from YAML text in the same form as the files in machines/.
  Result<std::shared_ptr<const Unit>> unit_from_yaml(const std::string& text,
                                                     const std::string& file) const;
  Result<NetworkPlan> network_from_yaml(const std::string& text, const std::string& file) const;

  /// "dgx-h100", "dgx-h100*16", "dgx-h100*4+dgx-a100*2"; `network` is a name, a file or
  /// empty. Unknown names get the nearest known ones as a hint.
  Result<Fabric> fabric(std::string_view expression, std::string_view network = {}) const;

 private:
  std::filesystem::path folder_;
  Parts parts_;
  std::vector<CatalogueEntry> machines_;
};

}  // namespace isleway
