// Names that every library of one virtual machine gives the same GPU.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "isleway/fabric/fabric.hpp"

namespace isleway::vgpu {

/// Where a device sits on PCI; the hosts of a fabric have a PCI each.
struct PciAddress {
  std::uint32_t domain = 0, bus = 0, device = 0;

  /// "00000000:1B:00.0", as NVML writes it; `domain_digits` 4 is its older form, CUDA's.
  std::string text(int domain_digits = 8) const;
  friend bool operator==(const PciAddress&, const PciAddress&) = default;
};

PciAddress pci_address(const Fabric& fabric, DeviceRef device);

/// Reads "0000:1b:00.0", "1b:00" and what lies between. Nothing when it is no address.
std::optional<PciAddress> parse_pci_address(std::string_view text);

/// A version-4 UUID that depends on the machine's name and on where the device is in it.
using Uuid = std::array<std::uint8_t, 16>;
Uuid device_uuid(const Fabric& fabric, DeviceRef device);
/// Of an NVLink domain that spans hosts, as the fabric manager gives it out.
Uuid cluster_uuid(const Fabric& fabric, std::uint32_t unit);
/// "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", in lower case.
std::string uuid_text(const Uuid& uuid);

/// Thirteen digits.
std::string serial_number(const Uuid& uuid);

}  // namespace isleway::vgpu
