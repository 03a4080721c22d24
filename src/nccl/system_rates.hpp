// What NCCL takes a link to carry, GB/s in one direction, by what it is.
#pragma once

#include "isleway/fabric.hpp"
#include "nccl/tables.hpp"
#include "nccl/tuner.hpp"

namespace isleway::nccl {

inline constexpr float kLocalRate = 5000;  ///< inside a device

float nvlink_rate(int sm, Version version);              ///< one link
float pcie_rate(const Link& link);                       ///< as trained
float socket_rate(const CpuInfo& cpu, Version version);  ///< between NUMA nodes
CpuArch arch_of(const CpuInfo& cpu);
CpuVendor vendor_of(const CpuInfo& cpu);

}  // namespace isleway::nccl
