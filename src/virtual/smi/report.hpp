// nvidia-smi -q as a tree, which is printed as text or as XML.
#pragma once

#include <string>
#include <vector>

#include "isleway/virtual/smi.hpp"

namespace isleway::vgpu::smi {

/// One line of -q, or a heading with lines below it. `label` is the text's name and `tag` the
/// XML's; either may be empty where that form has no such line. A heading without a tag puts its
/// lines into the one above.
struct Entry {
  std::string label, tag, value;
  std::vector<Entry> below;
};

/// Everything that -q tells of a GPU.
std::vector<Entry> describe(nvml::Monitor& monitor, const nvml::Gpu& gpu);

/// Parts of it, in their order.
std::vector<Entry> describe_identity(nvml::Monitor& monitor, const nvml::Gpu& gpu);
std::vector<Entry> describe_state(nvml::Monitor& monitor, const nvml::Gpu& gpu);
std::vector<Entry> describe_memory(nvml::Monitor& monitor, const nvml::Gpu& gpu);
std::vector<Entry> describe_fabric(nvml::Monitor& monitor, const nvml::Gpu& gpu);

constexpr const char* kNotKnown = "N/A";

}  // namespace isleway::vgpu::smi
