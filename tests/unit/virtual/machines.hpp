// Machines of the catalogue as a driver sees them.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <stdexcept>

#include "isleway/virtual/nvml/node.hpp"

namespace isleway::vgpu::testing {

inline const Catalogue& catalogue() {
  static const Catalogue opened = *Catalogue::open(ISLEWAY_SOURCE_DIR "/machines");
  return opened;
}

template <class T>
T value(Result<T> result) {
  if (!result) throw std::logic_error(result.error().text());
  return std::move(*result);
}

inline Fabric machine(const char* name) { return value(catalogue().fabric(name)); }

inline std::vector<Fault> faults(const Fabric& fabric,
                                 std::initializer_list<std::string_view> texts) {
  std::vector<Fault> all;
  for (const std::string_view text : texts) all.push_back(value(parse_fault(fabric, text)));
  return all;
}

inline nvml::Node node(const char* name, std::initializer_list<std::string_view> texts = {}) {
  const Fabric fabric = machine(name);
  const auto boards = value(nvml::Boards::load(catalogue()));
  return value(nvml::Node::make(fabric, nvml::all_gpus(fabric), catalogue().parts(), boards,
                                value(faults_in_force(faults(fabric, texts)))));
}

}  // namespace isleway::vgpu::testing
