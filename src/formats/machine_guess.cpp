// Which part of the catalogue a device is, from what a file tells about it.
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "formats/machine_builder.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

/// Hand-made files fill the field with zeros or ones.
bool tells_something(const std::string& pci_id) {
  const auto value = parse_int(pci_id, 16);
  return value && *value != 0 && *value != 0xffff;
}

bool has_id(const GpuPart& part, const std::string& pci_device) {
  const auto same = [&](const std::string& id) { return equal_ignoring_case(id, pci_device); };
  return std::any_of(part.pci_device_ids.begin(), part.pci_device_ids.end(), same);
}

}  // namespace

int plain_cpu_family(std::string_view vendor, int family) {
  constexpr int base = 15;  // the largest that the base field holds
  const bool packed = vendor == "AuthenticAMD" && family > 0x7f && family <= 0xfff &&
                      (family & base) == base;
  return packed ? base + (family >> 4) : family;
}

const CpuPart* guess_cpu(const Parts& parts, const CpuInfo& info) {
  const auto distance = [&](const CpuInfo& known) {
    int far = 0;
    if (known.arch != info.arch) far += 1'000'000;
    if (known.vendor != info.vendor) far += 100'000;
    if (known.family != info.family) far += 10'000;
    return far + std::min(std::abs(known.model - info.model), 9'999);
  };
  const CpuPart* nearest = nullptr;
  for (const auto& [key, part] : parts.cpus())
    if (!nearest || distance(part.info) < distance(nearest->info)) nearest = &part;
  if (!nearest || nearest->info.arch != info.arch) return nullptr;
  // Where no vendor is named, an Arm or POWER core still tells its maker; an x86 one does not.
  const bool maker_known = info.vendor.empty() ? info.arch != "x86_64"
                                               : nearest->info.vendor == info.vendor;
  return maker_known ? nearest : nullptr;
}

const GpuPart* MachineBuilder::choose_gpu_part(const Device& gpu, int nvlinks) {
  if (!context_.gpu.empty()) return parts_.gpu(context_.gpu);
  const std::string device = tells_something(gpu.pci.device) ? gpu.pci.device : std::string();
  const GpuInfo& info = gpu.gpu();
  const GpuPart* part = parts_.guess_gpu(device, info.sm, nvlinks);
  if (!part) {
    notes_.incomplete(info.amd ? fmt::format("AMD GPU {} is not in the catalogue of parts",
                                             cite(info.gcn))
                               : "nothing tells which GPU this is: give --gpu");
    return nullptr;
  }
  if (device.empty() || !has_id(*part, device))
    notes_.assumed(fmt::format("the GPU is {}, from compute capability {}.{} and {} {}; "
                               "--gpu overrides this", part->title, info.sm / 10, info.sm % 10,
                               nvlinks, nvlinks == 1 ? "NVLink" : "NVLinks"));
  return part;
}

void MachineBuilder::choose_gpu_parts() {
  const std::vector<int> nvlinks = nvlinks_by_device();
  for (DeviceIndex i = 0; i < size(); ++i) {
    Device& gpu = unit_.devices[i];
    if (gpu.kind != DeviceKind::gpu) continue;
    GpuInfo info = gpu.gpu();
    const GpuPart* part = choose_gpu_part(gpu, nvlinks[i]);
    if (part) {
      gpu.part = part->key;
      info.nvlink_links = part->info.nvlink_links;
      info.pcie_p2p = part->info.pcie_p2p;
      info.amd = part->info.amd;
      if (info.sm == 0 || !context_.gpu.empty()) info.sm = part->info.sm;
      if (info.gcn.empty()) info.gcn = part->info.gcn;
    }
    if (nvlinks[i] > info.nvlink_links) {
      if (part)
        notes_.assumed(fmt::format("the file gives a GPU {} NVLinks, of which a {} has {}",
                                   nvlinks[i], part->title, info.nvlink_links));
      info.nvlink_links = nvlinks[i];
    }
    gpu.info = std::move(info);
  }
}

}  // namespace isleway::formats
