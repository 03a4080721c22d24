#include "isleway/fabric/parts.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "fabric/catalogue_index.hpp"
#include "fabric/parts_reader.hpp"
#include "isleway/core/file.hpp"
#include "isleway/core/text.hpp"

namespace isleway {
namespace {

template <class Map>
auto* find_in(const Map& map, std::string_view key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

/// How badly a board fits what a file tells; smaller is better, 0 is a perfect fit.
int misfit(const GpuPart& part, int nvlinks) {
  int penalty = part.typical ? 0 : 1;
  if (nvlinks == 0 || part.info.nvlink_links == nvlinks) return penalty;
  // Fewer links than the board has may be down; more it cannot have.
  return penalty + (part.info.nvlink_links > nvlinks ? 2 : 4);
}

}  // namespace

Result<Parts> Parts::load(const std::filesystem::path& folder) {
  const auto files = yaml_files(folder);
  if (files.empty())
    return fail("no parts catalogue here", "a folder with gpus.yaml, links.yaml, ...",
                "set ISLEWAY_DATA to the folder that holds machines/", {folder.string()});
  Parts parts;
  PartsReader reader(parts);
  for (const auto& file : files) {
    const auto text = read_file(file);
    if (!text) return tl::unexpected(text.error());
    if (auto read = reader.read(*text, file.string()); !read) return tl::unexpected(read.error());
  }
  for (const auto& [key, gpu] : parts.gpus_) {
    if (gpu.nvlink_part.empty() || parts.links_.contains(gpu.nvlink_part)) continue;
    return fail(fmt::format("GPU '{}' has an unknown NVLink '{}'", key, gpu.nvlink_part),
                "a key of 'links'", {}, {folder.string()});
  }
  return parts;
}

const GpuPart* Parts::gpu(std::string_view key) const { return find_in(gpus_, key); }
const LinkPart* Parts::link(std::string_view key) const { return find_in(links_, key); }
const NvswitchPart* Parts::nvswitch(std::string_view key) const {
  return find_in(nvswitches_, key);
}
const NicPart* Parts::nic(std::string_view key) const { return find_in(nics_, key); }
const CpuPart* Parts::cpu(std::string_view key) const { return find_in(cpus_, key); }
const Constant* Parts::constant(std::string_view key) const { return find_in(constants_, key); }

const LinkPart* Parts::link(LinkKind kind, int generation) const {
  const LinkPart* nearest = nullptr;
  for (const auto& [key, part] : links_) {
    if (part.kind != kind) continue;
    const int distance = std::abs(part.generation - generation);
    if (!nearest || distance < std::abs(nearest->generation - generation)) nearest = &part;
  }
  return nearest;
}

const GpuPart* Parts::guess_gpu(const std::string& pci_device, int sm, int nvlinks) const {
  const GpuPart* best = nullptr;
  for (const auto& [key, part] : gpus_) {
    for (const std::string& id : part.pci_device_ids)
      if (!pci_device.empty() && equal_ignoring_case(id, pci_device)) return &part;
    if (sm == 0 || part.info.sm != sm) continue;
    if (!best || misfit(part, nvlinks) < misfit(*best, nvlinks)) best = &part;
  }
  return best;
}

Link Parts::make_link(LinkKind kind, int generation, int count, int lanes, bool into_switch) const {
  const LinkPart* part = link(kind, generation);
  if (part) return make_link(*part, count, lanes, into_switch);
  Link link;
  link.kind = kind;
  link.generation = static_cast<std::uint8_t>(generation);
  link.count = link.count_max = static_cast<std::uint16_t>(count);
  return link;
}

Link Parts::make_link(const LinkPart& part, int count, int lanes, bool into_switch) const {
  Link link;
  link.kind = part.kind;
  link.generation = static_cast<std::uint8_t>(part.generation);
  link.count = link.count_max = static_cast<std::uint16_t>(count);
  link.lanes = link.lanes_max = static_cast<std::uint16_t>(lanes > 0 ? lanes : part.lanes);
  // The part's rate is that of all its lanes; PCIe links come with fewer.
  link.link_rate = part.kind == LinkKind::pcie ? part.link_rate * (double(link.lanes) / part.lanes)
                                               : part.link_rate;
  link.latency = part.latency;
  link.efficiency = into_switch ? part.switched : part.direct;
  if (into_switch && part.kind == LinkKind::nvlink) {
    // NVSwitch generations count from DGX-2's, which carried NVLink 2.
    for (const auto& [key, nvswitch] : nvswitches_)
      if (nvswitch.info.generation == part.generation - 1)
        link.latency += nvswitch.latency.scaled(0.5);
  }
  return link;
}

}  // namespace isleway
