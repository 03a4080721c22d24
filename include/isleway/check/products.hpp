// GPUs by the names that outputs give them, and what each should show.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "isleway/core/error.hpp"

namespace isleway::check {

/// How a board joins its GPUs by NVLink.
enum class Wiring : std::uint8_t { none, bridge, direct, nvswitch, rack };
const char* name_of(Wiring wiring);

struct Product {
  std::string name;               ///< "H100 NVL"
  std::vector<std::string> like;  ///< patterns of the names that nvidia-smi prints
  std::string vendor, architecture;
  std::string form;  ///< "sxm", "pcie", "geforce", "workstation", "superchip", "integrated"
  Wiring wiring = Wiring::none;
  bool bridged = false;            ///< sold with its bridge: without one, something is missing
  int links = 0;                   ///< NVLinks of the part
  int usable = 0;                  ///< at most so many are ever up (a bridge's)
  std::vector<double> link_rates;  ///< GB/s that nvidia-smi prints for one; drivers differ
  int pcie_generation = 0, pcie_lanes = 16;
  std::vector<int> wired_lanes;  ///< fewer lanes that providers are known to wire by design
  bool peer_access = true;       ///< over PCIe
  std::string source;
};

class Products {
 public:
  static Result<Products> from_yaml(const std::string& text, const std::string& file);

  /// The first that fits; null when none does.
  const Product* find(std::string_view name) const;
  const std::vector<Product>& all() const { return all_; }

 private:
  std::vector<Product> all_;
};

}  // namespace isleway::check
