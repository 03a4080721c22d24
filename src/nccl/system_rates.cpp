// Source of all values: https://github.com/NVIDIA/nccl, src/graph/topo.h and topo.cc at the
// release tags.
#include "nccl/system_rates.hpp"

#include <algorithm>

namespace isleway::nccl {

float nvlink_rate(int sm, Version version) {
  if (sm >= 100 && version >= release(2, 25)) return version >= release(2, 27) ? 40.1F : 40.0F;
  if (sm >= 90) return version >= release(2, 20) ? 20.6F : 20.0F;
  if (sm == 86) return 12.0F;
  if (sm >= 70) return 20.0F;
  return sm >= 60 ? 18.0F : 20.0F;
}

float pcie_rate(const Link& link) {
  // Hundreds of Mb/s a lane; what is not known counts as Gen3 x16.
  constexpr float kPerLane[] = {60, 15, 30, 60, 120, 240, 480};
  const auto generation = std::min<std::size_t>(link.generation, std::size(kPerLane) - 1);
  const float lanes = link.lanes == 0 ? 16 : link.lanes;
  return lanes * kPerLane[generation] / 80;
}

CpuArch arch_of(const CpuInfo& cpu) {
  if (cpu.arch == "arm64" || cpu.arch == "aarch64") return CpuArch::arm;
  return cpu.arch.starts_with("ppc") ? CpuArch::power : CpuArch::x86;
}

CpuVendor vendor_of(const CpuInfo& cpu) {
  if (arch_of(cpu) != CpuArch::x86) return CpuVendor::other;
  if (cpu.vendor == "GenuineIntel") return CpuVendor::intel;
  return cpu.vendor == "AuthenticAMD" ? CpuVendor::amd : CpuVendor::other;
}

float socket_rate(const CpuInfo& cpu, Version version) {
  switch (arch_of(cpu)) {
    case CpuArch::arm: return 6;
    case CpuArch::power: return 32;
    case CpuArch::x86: break;
  }
  if (vendor_of(cpu) == CpuVendor::amd) return version >= release(2, 19) ? 16 : kLocalRate;
  if (cpu.vendor == "CentaurHauls" || cpu.vendor == "  Shanghai  ") {
    constexpr int kYongfeng = 7;  // family of the newer Zhaoxin parts
    return cpu.family == kYongfeng ? 9 : 6;
  }
  if (vendor_of(cpu) != CpuVendor::intel) return kLocalRate;
  if (cpu.family == 6 && version >= release(2, 26)) {
    if (cpu.model >= 0xCF) return 40;  // Emerald Rapids
    if (cpu.model >= 0x8F) return 22;  // Sapphire Rapids
  }
  return cpu.family == 6 && cpu.model >= 0x55 ? 10 : 6;  // Skylake
}

}  // namespace isleway::nccl
