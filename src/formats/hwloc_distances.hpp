// The matrices of an hwloc XML file, such as the bandwidth between GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <string_view>
#include <vector>

namespace isleway::formats {

struct HwlocMatrix {
  std::vector<std::int64_t> objects;  ///< gp_index of each row and column
  std::vector<double> values;         ///< row by row, objects.size() squared
  double at(std::size_t row, std::size_t column) const {
    return values[row * objects.size() + column];
  }
};

/// The matrix of this name below <topology>; nothing when there is none or it is damaged.
std::optional<HwlocMatrix> find_hwloc_matrix(pugi::xml_node topology, std::string_view name);

}  // namespace isleway::formats
