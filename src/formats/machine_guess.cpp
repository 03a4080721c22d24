// Which part of the catalogue a device is, from what a file tells about it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

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

/// RCCL wrote "910" for what is gfx90a, and "906" for gfx906, before it wrote names.
std::string full_gcn(const std::string& gcn) {
  if (gcn.starts_with("gfx")) return gcn;
  return gcn == "910" ? "gfx90a" : "gfx" + gcn;
}

}  // namespace

int plain_cpu_family(std::string_view vendor, int family) {
  constexpr int base = 15;  // the largest that the base field holds
  const bool packed =
      vendor == "AuthenticAMD" && family > 0x7f && family <= 0xfff && (family & base) == base;
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
  const bool maker_known =
      info.vendor.empty() ? info.arch != "x86_64" : nearest->info.vendor == info.vendor;
  return maker_known ? nearest : nullptr;
}

std::vector<MachineBuilder::Wiring> MachineBuilder::wiring_by_device() const {
  std::vector<Wiring> all(size());
  for (const Bundle& b : bundles_) {
    if (b.kind == LinkKind::c2c) {
      all[b.from].has_c2c = true;
      continue;
    }
    const int count = std::max(b.count, b.count_back);
    all[b.from].nvlinks += count;
    all[b.from].peers += b.into_switch ? 2 : 1;  // a switch leads to several
    if (b.into_switch) continue;
    all[b.to].nvlinks += count;
    ++all[b.to].peers;
  }
  return all;
}

/// By what identifies it, else by what its wiring tells of the board: with C2C it is one for
/// Grace; with all links to one other GPU it is a card with a bridge.
const GpuPart* MachineBuilder::guess_part(const Device& gpu, const Wiring& wiring) const {
  const GpuInfo& info = gpu.gpu();
  if (tells_something(gpu.pci.device))
    if (const GpuPart* exact = parts_.guess_gpu(gpu.pci.device, 0, 0)) return exact;
  for (const auto& [key, part] : parts_.gpus()) {
    if (info.amd ? part.info.gcn == full_gcn(info.gcn)
                 : part.info.sm == info.sm && part.info.nvlink_links >= wiring.nvlinks &&
                       ((wiring.has_c2c && key.starts_with('g')) ||
                        (wiring.peers == 1 && key.find("pcie") != std::string::npos)))
      return &part;
  }
  return parts_.guess_gpu("", info.sm, wiring.nvlinks);
}

const GpuPart* MachineBuilder::choose_gpu_part(const Device& gpu, const Wiring& wiring) {
  if (!context_.gpu.empty()) return parts_.gpu(context_.gpu);
  const GpuInfo& info = gpu.gpu();
  const GpuPart* part = guess_part(gpu, wiring);
  if (!part)
    notes_.incomplete(
        info.amd ? fmt::format("AMD GPU {} is not in the catalogue of parts", cite(info.gcn))
                 : "nothing tells which GPU this is: give --gpu");
  else if (!info.amd && !has_id(*part, gpu.pci.device))
    notes_.assumed(
        fmt::format("the GPU is {}, from compute capability {}.{} and {} {}; "
                    "--gpu overrides this",
                    part->title, info.sm / 10, info.sm % 10, wiring.nvlinks,
                    wiring.nvlinks == 1 ? "NVLink" : "NVLinks"));
  return part;
}

void MachineBuilder::choose_gpu_parts() {
  const std::vector<Wiring> wiring = wiring_by_device();
  for (DeviceIndex i = 0; i < size(); ++i) {
    Device& gpu = unit_.devices[i];
    if (gpu.kind != DeviceKind::gpu) continue;
    GpuInfo info = gpu.gpu();
    const GpuPart* part = choose_gpu_part(gpu, wiring[i]);
    if (part) {
      gpu.part = part->key;
      info.nvlink_links = part->info.nvlink_links;
      info.pcie_p2p = part->info.pcie_p2p;
      info.amd = part->info.amd;
      if (info.sm == 0 || !context_.gpu.empty()) info.sm = part->info.sm;
      if (info.gcn.empty()) info.gcn = part->info.gcn;
    }
    if (const int seen = wiring[i].nvlinks; seen > info.nvlink_links) {
      if (part)
        notes_.assumed(fmt::format("the file gives a GPU {} NVLinks, of which a {} has {}", seen,
                                   part->title, info.nvlink_links));
      info.nvlink_links = seen;
    }
    gpu.info = std::move(info);
  }
}

}  // namespace isleway::formats
