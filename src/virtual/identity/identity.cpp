#include "isleway/virtual/identity.hpp"

#include <fmt/format.h>

#include "isleway/core/text.hpp"
#include "isleway/fabric/addresses.hpp"

namespace isleway::vgpu {
namespace {

/// FNV-1a: well known, and the same on every machine.
std::uint64_t hash(std::string_view text, std::uint64_t seed) {
  std::uint64_t value = 0xcbf29ce484222325 ^ seed;
  for (const char c : text) {
    value ^= static_cast<unsigned char>(c);
    value *= 0x100000001b3;
  }
  // FNV leaves the high bits of short texts alike; one round of splitmix64 spreads them.
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

Uuid uuid_of(const std::string& text) {
  Uuid uuid;
  for (std::size_t half = 0; half < 2; ++half) {
    const std::uint64_t bits = hash(text, half + 1);
    for (std::size_t i = 0; i < 8; ++i)
      uuid[half * 8 + i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
  }
  uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0f) | 0x40);
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3f) | 0x80);
  return uuid;
}

std::optional<std::uint32_t> hex(std::string_view text, std::int64_t most) {
  const auto value = parse_int(text, 16);
  if (!value || *value < 0 || *value > most) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

}  // namespace

std::string PciAddress::text(int domain_digits) const {
  return fmt::format("{:0{}X}:{:02X}:{:02X}.0", domain, domain_digits, bus, device);
}

std::optional<PciAddress> parse_pci_address(std::string_view text) {
  text = trim(text);
  const std::size_t dot = text.rfind('.');
  if (dot != std::string_view::npos) {
    if (!hex(text.substr(dot + 1), 7)) return std::nullopt;
    text = text.substr(0, dot);
  }
  const auto pieces = split(text, ':');
  if (pieces.size() < 2 || pieces.size() > 3) return std::nullopt;
  const auto domain = pieces.size() == 3 ? hex(pieces[0], 0xffffffff) : std::uint32_t{0};
  const auto bus = hex(pieces[pieces.size() - 2], 0xff);
  const auto device = hex(pieces.back(), 0x1f);
  if (!domain || !bus || !device) return std::nullopt;
  return PciAddress{*domain, *bus, *device};
}

PciAddress pci_address(const Fabric& fabric, DeviceRef device) {
  const std::string text = pci_addresses(fabric.unit(device.unit))[device.device];
  return parse_pci_address(text).value_or(PciAddress{});
}

Uuid device_uuid(const Fabric& fabric, DeviceRef ref) {
  const Device& device = fabric.device(ref);
  return uuid_of(fmt::format("{}/{}/{}/{}", fabric.name(), ref.unit, device.host, device.name));
}

Uuid cluster_uuid(const Fabric& fabric, std::uint32_t unit) {
  return uuid_of(fmt::format("{}/{}/cluster", fabric.name(), unit));
}

std::string uuid_text(const Uuid& uuid) {
  std::string text;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

std::string serial_number(const Uuid& uuid) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = value << 8 | uuid[i];
  constexpr std::uint64_t digits = 100'000'000'000;
  return fmt::format("16{:011}", value % digits);
}

}  // namespace isleway::vgpu
