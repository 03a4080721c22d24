#include "formats/machine_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace isleway::formats {
namespace {

// Larger numbers in a file are damage.
constexpr int kMostNumber = 4095;  ///< of a device
constexpr int kMostLinks = 1000;   ///< of one bundle

void count_links(int& links, int more) {
  links = std::clamp(links + std::clamp(more, 0, kMostLinks), 0, kMostLinks);
}

const char* stem_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu: return "GPU";
    case DeviceKind::nvswitch: return "NVSwitch";
    case DeviceKind::cpu: return "CPU";
    case DeviceKind::pcie_switch: return "PCIe";
    case DeviceKind::nic: return "NIC";
  }
  return "";
}

}  // namespace

MachineBuilder::MachineBuilder(const ReadContext& context)
    : context_(context), parts_(context.catalogue->parts()), notes_(context.file) {
  unit_.hosts = 0;
}

DeviceIndex MachineBuilder::add(DeviceKind kind, DeviceIndex parent, PciInfo pci, PcieWire wire,
                                int number) {
  Device device;
  device.kind = kind;
  device.host = parent == kNoParent ? std::int16_t{0} : unit_.devices[parent].host;
  device.pci = std::move(pci);
  placements_.push_back({parent, wire, number > kMostNumber ? -1 : number, {}});
  unit_.devices.push_back(std::move(device));
  return static_cast<DeviceIndex>(unit_.devices.size() - 1);
}

DeviceIndex MachineBuilder::add_cpu(int host, CpuInfo info) {
  info.family = plain_cpu_family(info.vendor, info.family);
  const DeviceIndex cpu = add(DeviceKind::cpu, kNoParent, {}, {}, info.numa);
  unit_.hosts = std::max(unit_.hosts, host + 1);
  unit_.devices[cpu].host = static_cast<std::int16_t>(host);
  if (const CpuPart* part = guess_cpu(parts_, info)) unit_.devices[cpu].part = part->key;
  unit_.devices[cpu].info = std::move(info);
  return cpu;
}

DeviceIndex MachineBuilder::add_pcie_switch(DeviceIndex parent, PciInfo pci, PcieWire wire,
                                            PcieSwitchInfo info) {
  const DeviceIndex added = add(DeviceKind::pcie_switch, parent, std::move(pci), wire, -1);
  unit_.devices[added].info = info;
  return added;
}

DeviceIndex MachineBuilder::add_gpu(DeviceIndex parent, PciInfo pci, PcieWire wire, int number,
                                    GpuInfo info) {
  const DeviceIndex added = add(DeviceKind::gpu, parent, std::move(pci), wire, number);
  unit_.devices[added].info = std::move(info);
  return added;
}

DeviceIndex MachineBuilder::add_nic(DeviceIndex parent, PciInfo pci, PcieWire wire, int number,
                                    std::string name, NicInfo info) {
  const DeviceIndex added = add(DeviceKind::nic, parent, std::move(pci), wire, number);
  unit_.devices[added].info = std::move(info);
  placements_[added].wanted_name = std::move(name);
  return added;
}

MachineBuilder::Bundle& MachineBuilder::bundle(LinkKind kind, DeviceIndex from, DeviceIndex to,
                                               bool into_switch) {
  const auto [place, is_new] =
      bundle_at_.try_emplace({kind, from, to, into_switch}, bundles_.size());
  if (is_new) bundles_.push_back({kind, from, to, into_switch, 0, 0, 0, {}});
  return bundles_[place->second];
}

void MachineBuilder::join_gpus(DeviceIndex gpu, DeviceIndex other, int count, int fitted) {
  const bool amd = device(gpu).gpu().amd;
  Bundle& joined = bundle(amd ? LinkKind::xgmi : LinkKind::nvlink, std::min(gpu, other),
                          std::max(gpu, other), false);
  count_links(gpu < other ? joined.count : joined.count_back, count);
  count_links(joined.fitted, fitted);
}

void MachineBuilder::join_nvswitch(DeviceIndex gpu, const std::string& key, int count, int fitted) {
  const auto [place, is_new] =
      switch_number_.try_emplace(key, static_cast<DeviceIndex>(switch_keys_.size()));
  if (is_new) switch_keys_.push_back(key);
  Bundle& joined = bundle(LinkKind::nvlink, gpu, place->second, true);
  count_links(joined.count, count);
  count_links(joined.fitted, fitted);
}

void MachineBuilder::join_cpu(DeviceIndex gpu, DeviceIndex cpu, int count) {
  count_links(bundle(LinkKind::nvlink, gpu, cpu, false).count, count);
}

void MachineBuilder::join_c2c(DeviceIndex gpu, DeviceIndex cpu, int count, Rate per_link) {
  Bundle& joined = bundle(LinkKind::c2c, gpu, cpu, false);
  count_links(joined.count, count);
  joined.per_link = per_link;
}

std::string MachineBuilder::unique_name(int host, std::string wanted) {
  const int copies = names_[{host, wanted}]++;
  if (copies == 0) return wanted;
  std::string name = unique_name(host, fmt::format("{}#{}", wanted, copies + 1));
  notes_.assumed(fmt::format("several devices are called {}: one of them is now {}", cite(wanted),
                             cite(name)));
  return name;
}

/// Takes the file's numbers where they tell the devices of a host apart, else counts them in
/// the order of their PCI addresses, as the driver does.
void MachineBuilder::number_devices(DeviceKind kind) {
  std::vector<std::vector<DeviceIndex>> by_host(static_cast<std::size_t>(unit_.hosts));
  for (DeviceIndex i = 0; i < unit_.devices.size(); ++i)
    if (device(i).kind == kind) by_host[static_cast<std::size_t>(device(i).host)].push_back(i);
  for (std::vector<DeviceIndex>& group : by_host) {
    std::set<int> numbers;
    const bool usable = std::all_of(group.begin(), group.end(), [&](DeviceIndex i) {
      return placements_[i].number >= 0 && numbers.insert(placements_[i].number).second;
    });
    if (!usable && kind != DeviceKind::cpu && kind != DeviceKind::pcie_switch)
      std::stable_sort(group.begin(), group.end(), [&](DeviceIndex a, DeviceIndex b) {
        return device(a).pci.bus_id < device(b).pci.bus_id;
      });
    int next = 0;
    for (const DeviceIndex i : group) {
      Device& numbered = unit_.devices[i];
      numbered.index = static_cast<std::int16_t>(usable ? placements_[i].number : next++);
      const std::string& wanted = placements_[i].wanted_name;
      numbered.name =
          unique_name(numbered.host,
                      wanted.empty() ? fmt::format("{}{}", stem_of(kind), numbered.index) : wanted);
    }
  }
}

/// Which side of a link was told first must not matter.
void MachineBuilder::sort_bundles() {
  const auto key = [](const Bundle& b) { return std::tuple(b.from, b.into_switch, b.to, b.kind); };
  std::sort(bundles_.begin(), bundles_.end(),
            [&](const Bundle& a, const Bundle& b) { return key(a) < key(b); });
  bundle_at_.clear();
}

std::string MachineBuilder::title() const {
  std::map<std::string, int> counts;
  for (const Device& d : unit_.devices) {
    if (d.kind != DeviceKind::gpu) continue;
    const GpuPart* part = parts_.gpu(d.part);
    ++counts[part ? part->title : "GPU of unknown kind"];
  }
  std::string title;
  for (const auto& [name, count] : counts)
    title += fmt::format("{}{} x {}", title.empty() ? "" : ", ", count, name);
  return title.empty() ? "no GPU" : title;
}

Result<Document> MachineBuilder::finish(const char* format) {
  if (unit_.devices.empty()) return fail("no device is described", {}, {}, {context_.file});
  if (!context_.gpu.empty() && !parts_.gpu(context_.gpu)) {
    std::vector<std::string> keys;
    for (const auto& [key, part] : parts_.gpus()) keys.push_back(key);
    return fail_unknown("GPU", context_.gpu, keys);
  }
  for (const DeviceKind kind :
       {DeviceKind::cpu, DeviceKind::pcie_switch, DeviceKind::gpu, DeviceKind::nic})
    number_devices(kind);
  choose_gpu_parts();
  sort_bundles();
  merge_nvswitches();
  add_nvswitches();
  wire_pcie();
  wire_sockets();
  wire_bundles();

  const std::size_t slash = context_.file.find_last_of('/');
  unit_.name = slash == std::string::npos ? context_.file : context_.file.substr(slash + 1);
  if (unit_.name.empty()) unit_.name = "machine";
  unit_.title = title();
  unit_.source = context_.file;
  auto unit = Unit::make(std::move(unit_));
  if (!unit) {
    unit.error().where = {context_.file};
    return tl::unexpected(unit.error());
  }
  return Document{format, *std::move(unit), notes_.notices()};
}

}  // namespace isleway::formats
