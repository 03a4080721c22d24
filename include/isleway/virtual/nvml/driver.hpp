// What the driver says of a GPU by rule: what follows from its board and generation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "isleway/virtual/nvml/node.hpp"

namespace isleway::vgpu::nvml {

/// The driver that the machine is said to run: one that knows every GPU of the catalogue.
constexpr std::string_view kDriverVersion = "580.95.05", kDriverBranch = "r580_00";
constexpr std::string_view kNvmlVersion = "13.580.95.05";
constexpr int kCudaVersion = 13000;

/// Degrees at which the driver slows a GPU down, switches it off, holds it; and for memory.
constexpr int kSlowdownCelsius = 87, kShutdownCelsius = 92, kHeldCelsius = 83, kMemoryCelsius = 95;
/// The same as margins, as boards from Ada on count: how far below the slowdown (T.Limit).
constexpr int kShutdownMargin = -8, kSlowdownMargin = -2, kHeldMargin = 0, kMemoryMargin = 0;
/// Memory runs somewhat warmer than the GPU beside it.
constexpr int kMemoryWarmer = 5;

struct FrameBuffer {
  std::uint64_t total = 0, reserved = 0, used = 0, free = 0;  ///< bytes
};
FrameBuffer frame_buffer(const Gpu& gpu, Bytes used);
std::uint64_t bar1_bytes(const Gpu& gpu);

/// "Hopper"; empty when unknown.
std::string_view architecture_name(int sm);
/// "NVIDIA", "GeForce", "Tesla", "NVIDIA RTX", as nvidia-smi -q prints it.
std::string_view brand_name(const Gpu& gpu);
std::string vbios_version(const Gpu& gpu);
std::string board_part_number(const Gpu& gpu);
std::string inforom_image(const Gpu& gpu);
/// Domain, bus and device in one number.
std::uint32_t board_id(const Gpu& gpu);
/// 64 bits that no other device has.
std::uint64_t device_identifier(const Gpu& gpu);
/// The part's number and NVIDIA's: 0x233010de.
std::uint32_t pci_device_id(const Device& device, const GpuPart* part);

/// From Ampere on rows are remapped; before, pages were retired.
bool remaps_rows(const Gpu& gpu);
/// Banks that rows can be remapped in.
int remapper_banks(const Gpu& gpu);
bool has_mig(const Gpu& gpu);
/// Boards from Ada on print margins in place of temperatures.
inline bool has_margins(const Gpu& gpu) { return gpu.sm() >= 89; }
/// MHz of the video engines at an SM clock.
int video_clock(int sm_clock);
/// One NVLink in one direction at the lanes that are trained, in MB/s.
std::uint32_t link_megabytes(const Port& port);
/// Zeros for switches that no host sees, as those of a rack.
PciAddress peer_address(const Node& node, const Port& port);
/// Packets that bytes took, and bytes with the flits of 16 bytes before each 128 of data.
constexpr std::uint64_t packets(std::uint64_t bytes) { return bytes / 128; }
constexpr std::uint64_t with_headers(std::uint64_t bytes) { return bytes + packets(bytes) * 16; }
/// The share of bits on a link that were wrong, of `bytes` carried: of those that correction did
/// not mend, and of all.
double effective_error_rate(const Port& port, std::uint64_t bytes);
double raw_error_rate(const Port& port, std::uint64_t bytes);

/// One field of NVML's health mask: not told, bad, good.
enum class Health { not_told = 0, bad = 1, good = 2 };
struct FabricHealth {
  Health bandwidth = Health::not_told, recovering = Health::not_told, route = Health::not_told,
         timeout = Health::not_told, configuration = Health::not_told;
  /// "Healthy", "Unhealthy", "Limited Capacity"; empty: not told.
  std::string_view summary;
};
FabricHealth fabric_health(const FabricState& fabric);

}  // namespace isleway::vgpu::nvml
