#include "isleway/virtual/nvml/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isleway/core/text.hpp"

namespace isleway::vgpu::nvml {
namespace {

/// Of the part, the last three digits of its PCI id.
unsigned part_number(const Gpu& gpu) { return pci_device_id(*gpu.device, gpu.part) >> 16 & 0xfff; }

}  // namespace

FrameBuffer frame_buffer(const Gpu& gpu, Bytes in_use) {
  FrameBuffer memory;
  memory.total = static_cast<std::uint64_t>(gpu.board.frame_buffer.count());
  // What the driver keeps for itself: 480 of an H100's 81559 MiB, and in proportion on others.
  memory.reserved = memory.total / 170 >> 20 << 20;
  memory.used =
      std::min(static_cast<std::uint64_t>(in_use.count()), memory.total - memory.reserved);
  memory.free = memory.total - memory.reserved - memory.used;
  return memory;
}

std::uint64_t bar1_bytes(const Gpu& gpu) {
  // A server's window shows all memory, in a power of two; a GeForce's without resizing 256 MiB.
  std::uint64_t bytes = std::uint64_t{256} << 20;
  if (!gpu.board.fan)
    while (bytes < static_cast<std::uint64_t>(gpu.board.frame_buffer.count())) bytes <<= 1;
  return bytes;
}

std::string_view architecture_name(int sm) {
  switch (sm / 10) {
    case 6: return "Pascal";
    case 7: return sm == 75 ? "Turing" : "Volta";
    case 8: return sm == 89 ? "Ada Lovelace" : "Ampere";
    case 9: return "Hopper";
    case 10: return sm >= 107 ? "Rubin" : "Blackwell";
    case 12: return "Blackwell";
    default: return "";
  }
}

std::string_view brand_name(const Gpu& gpu) {
  if (gpu.name.find("GeForce") != std::string::npos) return "GeForce";
  if (gpu.name.find("RTX") != std::string::npos) return "NVIDIA RTX";
  return gpu.sm() < 80 ? "Tesla" : "NVIDIA";
}

std::string vbios_version(const Gpu& gpu) {
  return fmt::format("{:02d}.00.00.00.01", gpu.sm() / 10 * 10 + 6);
}
std::string board_part_number(const Gpu& gpu) {
  return fmt::format("692-2G{:03X}-0200-000", part_number(gpu));
}
std::string inforom_image(const Gpu& gpu) {
  return fmt::format("G{:03X}.0200.00.01", part_number(gpu));
}
std::uint32_t board_id(const Gpu& gpu) {
  return gpu.pci.domain << 16 | gpu.pci.bus << 8 | gpu.pci.device;
}
std::uint64_t device_identifier(const Gpu& gpu) {
  std::uint64_t value = 0;
  for (std::size_t i = 8; i < gpu.uuid.size(); ++i) value = value << 8 | gpu.uuid[i];
  return value;
}

std::uint32_t pci_device_id(const Device& device, const GpuPart* part) {
  constexpr std::uint32_t nvidia = 0x10de;
  std::string_view id = device.pci.device;
  if (id.empty() && part != nullptr && !part->pci_device_ids.empty())
    id = part->pci_device_ids.front();
  if (id.starts_with("0x")) id.remove_prefix(2);
  return static_cast<std::uint32_t>(parse_int(id, 16).value_or(0) & 0xffff) << 16 | nvidia;
}

bool remaps_rows(const Gpu& gpu) { return gpu.board.ecc && gpu.sm() >= 80; }

int remapper_banks(const Gpu& gpu) {
  return gpu.board.bus_bits / 2;  // an H100's 2560 on 5120 bits
}

bool has_mig(const Gpu& gpu) {
  return gpu.sm() == 80 || gpu.sm() == 90 || gpu.sm() == 100 || gpu.sm() == 103;
}

int video_clock(int sm_clock) {
  // About what nvidia-smi -q prints beside the SMs' clock: 1545 of 1980 MHz on H100.
  return static_cast<int>(std::lround(sm_clock * 0.78));
}

std::uint32_t link_megabytes(const Port& port) {
  const double trained = port.lanes_max > 0 ? double(port.lanes) / port.lanes_max : 1;
  return static_cast<std::uint32_t>(port.printed_rate.GBs() * 1000 * trained);
}

PciAddress peer_address(const Node& node, const Port& port) {
  const Device& peer = node.healthy().device(port.peer);
  if (peer.kind == DeviceKind::nvswitch && peer.host < 0) return {};
  return pci_address(node.healthy(), port.peer);
}

double effective_error_rate(const Port& port, std::uint64_t bytes) {
  constexpr double fewest_bits = 1e9;  // below which a rate says nothing
  const double bits = std::max(8.0 * static_cast<double>(bytes), fewest_bits);
  return static_cast<double>(port.crc) / bits;
}
double raw_error_rate(const Port& port, std::uint64_t bytes) {
  constexpr double good_link = 1e-12;  // before correction
  return good_link + effective_error_rate(port, bytes);
}

FabricHealth fabric_health(const FabricState& fabric) {
  if (!fabric.spans_hosts) return {};  // inside a server nobody reports it
  const auto bad_if = [](bool bad) { return bad ? Health::bad : Health::good; };
  FabricHealth health;
  health.bandwidth = bad_if(fabric.degraded);
  health.recovering = Health::good;
  health.route = bad_if(!fabric.resources);
  health.timeout = Health::good;
  health.configuration = bad_if(!fabric.resources);
  health.summary = !fabric.resources ? "Unhealthy"
                   : fabric.degraded ? "Limited Capacity"
                                     : "Healthy";
  return health;
}

}  // namespace isleway::vgpu::nvml
