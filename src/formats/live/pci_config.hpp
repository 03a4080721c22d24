// The PCIe configuration space of a device, as /sys/bus/pci/devices/*/config has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace isleway::formats {

/// The flags of the ACS control register as lspci prints them ("SrcValid+ TransBlk- ..."), or
/// nothing where the device has none or the caller may not read that far (256 bytes at most
/// without CAP_SYS_ADMIN). Layout: PCI Express Base Specification, 7.7.11.
std::optional<std::string> acs_control(std::string_view config);

}  // namespace isleway::formats
