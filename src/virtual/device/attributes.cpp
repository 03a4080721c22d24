#include "virtual/device/attributes.hpp"

#include <map>

#include "isleway/virtual/identity.hpp"
#include "isleway/virtual/nvml/board.hpp"

namespace isleway::vgpu {
namespace {

const isleway::Device& gpu_of(Process& process, int device) {
  const Fabric& machine = process.world().machine();
  return machine.device(machine.gpu(process.gpu(device)));
}

/// Its unit in the machine as it is now; null: the GPU is off the bus.
const Unit* unit_now(Process& process, int device, DeviceRef& gpu) {
  const auto present = process.present();
  const auto now = present->gpu(process.gpu(device));
  if (!now) return nullptr;
  gpu = present->fabric()->gpu(*now);
  return &present->fabric()->unit(gpu.unit);
}

bool has_multicast(Process& process, int device) {
  DeviceRef gpu;
  const Unit* unit = unit_now(process, device, gpu);
  if (unit == nullptr) return false;
  const int island = unit->island_of(gpu.device);
  return island >= 0 && unit->has_multicast(island);
}

/// GPUs of one NVLink domain over several hosts hand memory to one another by fabric handles.
bool has_fabric_handles(Process& process, int device) {
  DeviceRef gpu;
  const Unit* unit = unit_now(process, device, gpu);
  return unit != nullptr && unit->parts().hosts > 1 && unit->island_of(gpu.device) >= 0;
}

}  // namespace

Capability capability_of(const isleway::Device& gpu) {
  const int sm = gpu.gpu().sm;
  Capability c;
  c.major = sm / 10;
  c.minor = sm % 10;
  constexpr int kib = 1024;
  switch (sm) {
    case 60:
      c.shared_per_sm = 64 * kib;
      c.shared_per_block_optin = 48 * kib;
      break;
    case 70:
      c.shared_per_sm = 96 * kib;
      c.shared_per_block_optin = 96 * kib;
      break;
    case 75:
      c.threads_per_sm = 1024;
      c.blocks_per_sm = 16;
      c.shared_per_sm = c.shared_per_block_optin = 64 * kib;
      break;
    case 80:
      c.shared_per_sm = 164 * kib;
      c.shared_per_block_optin = 163 * kib;
      break;
    case 86:
    case 89:
    case 120:
      c.threads_per_sm = 1536;
      c.blocks_per_sm = sm == 86 ? 16 : 24;
      c.shared_per_sm = 100 * kib;
      c.shared_per_block_optin = 99 * kib;
      break;
    default:
      c.shared_per_sm = 228 * kib;
      c.shared_per_block_optin = 227 * kib;
      break;
  }
  return c;
}

std::string device_title(Process& process, int device) {
  const GpuPart* part = process.part(device);
  return part != nullptr ? part->title : "NVIDIA GPU";
}

std::optional<int> device_attribute(Process& process, int device, int attribute) {
  const isleway::Device& gpu = gpu_of(process, device);
  const Capability c = capability_of(gpu);
  const GpuPart* part = process.part(device);
  const auto board = [&] {
    const auto boards = nvml::Boards::load(process.world().catalogue());
    return boards ? boards->of(gpu) : nvml::Board{};
  };
  const auto pci = [&] {
    const Fabric& machine = process.world().machine();
    return pci_address(machine, machine.gpu(process.gpu(device)));
  };
  // By number, as the public documentation lists them.
  static const std::map<int, int> fixed = {
      {1, 1024},       {2, 1024},    {3, 1024},      {4, 64},       {5, 2147483647},  {6, 65535},
      {7, 65535},      {8, 49152},   {9, 65536},     {10, 32},      {11, 2147483647}, {12, 65536},
      {14, 512},       {15, 1},      {17, 0},        {18, 0},       {19, 1},          {20, 0},
      {21, 131072},    {22, 131072}, {23, 65536},    {24, 16384},   {25, 16384},      {26, 16384},
      {31, 1},         {35, 0},      {38, 50 << 20}, {40, 3},       {41, 1},          {51, 32},
      {69, 268435456}, {70, 131072}, {71, 65000},    {72, 2097120}, {78, 1},          {79, 1},
      {80, 1},         {82, 65536},  {83, 1},        {84, 0},       {85, 0},          {86, 0},
      {87, 2},         {88, 0},      {89, 1},        {90, 1},       {91, 1},          {92, 1},
      {93, 1},         {94, 1},      {95, 1},        {96, 0},       {98, 1},          {99, 1},
      {100, 0},        {101, 0},     {102, 1},       {103, 1},      {104, 0},         {105, 0},
      {108, 0},        {109, 0},     {110, 1},       {111, 1024},   {112, 1},         {113, 1},
      {114, 1},        {115, 1},     {116, 1},       {117, 1},      {118, 100},       {119, 1},
      {121, 1},        {124, 1},     {125, 1},       {126, 4},      {127, 1},         {129, 1},
      {130, 0},        {131, -1},    {133, 0},       {134, -1}};
  switch (attribute) {
    case 13: return board().sm_clock * 1000;
    case 16: return part != nullptr && part->sms > 0 ? part->sms : 1;
    case 32: return board().ecc ? 1 : 0;
    case 33: return static_cast<int>(pci().bus);
    case 34: return static_cast<int>(pci().device);
    case 36: return board().memory_clock * 1000;
    case 37: return board().bus_bits;
    case 39: return c.threads_per_sm;
    case 50: return static_cast<int>(pci().domain);
    case 75: return c.major;
    case 76: return c.minor;
    case 81: return c.shared_per_sm;
    case 97: return c.shared_per_block_optin;
    case 106: return c.blocks_per_sm;
    case 120: return c.major >= 9 ? 1 : 0;
    case 128: return has_fabric_handles(process, device) ? 1 : 0;
    case 132: return has_multicast(process, device) ? 1 : 0;
    default: break;
  }
  const auto found = fixed.find(attribute);
  if (found != fixed.end()) return found->second;
  constexpr int last = 147;
  if (attribute < 1 || attribute > last) return std::nullopt;
  return 0;
}

}  // namespace isleway::vgpu
