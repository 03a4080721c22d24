// A fabric as JSON. The schema is in docs/json.md, "fabric"; keys are only ever added.
#include <cmath>
#include <nlohmann/json.hpp>

#include "isleway/core/text.hpp"
#include "isleway/formats.hpp"

namespace isleway::formats {
namespace {

using Json = nlohmann::ordered_json;

/// Six decimals: enough for any figure here, and free of the noise of binary fractions.
/// Without limit becomes null.
Json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::round(value * 1e6) / 1e6;
}

const char* name_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu: return "gpu";
    case DeviceKind::nvswitch: return "nvswitch";
    case DeviceKind::cpu: return "cpu";
    case DeviceKind::pcie_switch: return "pcie_switch";
    case DeviceKind::nic: return "nic";
  }
  return "";
}

const char* name_of(Confidential mode) {
  switch (mode) {
    case Confidential::off: return "off";
    case Confidential::hopper_cc: return "hopper-cc";
    case Confidential::hopper_ppcie: return "hopper-ppcie";
    case Confidential::blackwell: return "blackwell";
  }
  return "";
}

void add_info(Json& json, const GpuInfo& info) {
  json["sm"] = info.sm;
  json["nvlinks"] = info.nvlink_links;
  json["pcie_p2p"] = info.pcie_p2p;
  json["gpudirect"] = info.gpudirect;
  json["mig"] = info.mig;
  if (info.amd) json["amd"] = info.gcn;
}
void add_info(Json& json, const NvswitchInfo& info) {
  json["generation"] = info.generation;
  json["ports"] = info.ports;
  json["multicast"] = info.multicast;
}
void add_info(Json& json, const CpuInfo& info) {
  json["numa"] = info.numa;
  json["socket"] = info.socket;
  json["affinity"] = info.affinity;
  json["arch"] = info.arch;
  json["vendor"] = info.vendor;
  json["family"] = info.family;
  json["model"] = info.model;
}
void add_info(Json& json, const NicInfo& info) {
  json["rate_gbits"] = rounded(info.rate.gbits());
  json["port"] = info.port;
  json["guid"] = info.guid;
  json["gpudirect"] = info.gpudirect;
  json["in_network_reduction"] = info.in_network_reduction;
}
void add_info(Json& json, const PcieSwitchInfo& info) {
  json["stands_for_several"] = info.stands_for_several;
}
void add_info(Json&, std::monostate) {}

Json device_json(const Device& device) {
  Json json = {{"kind", name_of(device.kind)},
               {"name", device.name},
               {"host", device.host},
               {"index", device.index},
               {"part", device.part}};
  const PciInfo& pci = device.pci;
  if (pci != PciInfo{})
    json["pci"] = {{"bus_id", pci.bus_id},
                   {"class", pci.class_code},
                   {"vendor", pci.vendor},
                   {"device", pci.device},
                   {"subsystem_vendor", pci.subsystem_vendor},
                   {"subsystem_device", pci.subsystem_device}};
  std::visit([&](const auto& info) { add_info(json, info); }, device.info);
  return json;
}

void add_link(Json& json, const Link& link) {
  json["kind"] = to_lower(isleway::name_of(link.kind));
  json["generation"] = link.generation;
  json["count"] = link.count;
  json["count_max"] = link.count_max;
  json["lanes"] = link.lanes;
  json["lanes_max"] = link.lanes_max;
  json["link_rate_GBs"] = rounded(link.link_rate.GBs());
  json["rate_GBs"] = rounded(link.rate().GBs());
  json["latency_ns"] = rounded(static_cast<double>(link.latency.ps()) * 1e-3);
  json["efficiency"] = {{"sm", rounded(link.efficiency.sm)},
                        {"copy_engine", rounded(link.efficiency.copy_engine)},
                        {"duplex", rounded(link.efficiency.duplex)}};
}

template <class End>
Json joined(End a, End b, const Link& link) {
  Json json = {{"a", a}, {"b", b}};
  add_link(json, link);
  return json;
}

Json unit_json(const Unit& unit) {
  const UnitParts& parts = unit.parts();
  Json json = {{"name", parts.name},
               {"title", parts.title},
               {"source", parts.source},
               {"announced", parts.announced},
               {"hosts", parts.hosts},
               {"modes",
                {{"confidential", name_of(parts.modes.confidential)},
                 {"iommu", parts.modes.iommu},
                 {"multicast_off", parts.modes.multicast_off}}},
               {"devices", Json::array()},
               {"links", Json::array()}};
  for (const Device& device : unit.devices()) json["devices"].push_back(device_json(device));
  for (const DeviceIndex gpu : unit.gpus()) json["devices"][gpu]["island"] = unit.island_of(gpu);
  for (const Link& link : unit.links()) json["links"].push_back(joined(link.a, link.b, link));
  return json;
}

Json network_json(const Network& network) {
  Json json = {{"name", network.plan().name},     {"technology", network.plan().technology},
               {"source", network.plan().source}, {"switches", Json::array()},
               {"trunks", Json::array()},         {"cables", Json::array()}};
  for (const NetSwitch& each : network.switches())
    json["switches"].push_back({{"name", each.name},
                                {"tier", each.tier},
                                {"members", each.members},
                                {"members_max", each.members_max}});
  for (std::size_t i = 0; i < network.trunks().size(); ++i)
    json["trunks"].push_back(
        joined(network.trunk_ends()[i].a, network.trunk_ends()[i].b, network.trunks()[i]));
  for (const NicAttachment& nic : network.attachments()) {
    Json cable = {{"leaf", nic.leaf}};
    add_link(cable, nic.cable);
    json["cables"].push_back(std::move(cable));
  }
  return json;
}

Result<std::string> write_json(const Fabric& fabric, const WriteOptions&) {
  Json json = {{"schema", "isleway.fabric/1"},     {"name", fabric.name()},
               {"gpus", fabric.gpu_count()},       {"hosts", fabric.host_count()},
               {"islands", fabric.island_count()}, {"templates", Json::array()},
               {"units", fabric.unit_templates()}};
  for (const auto& unit : fabric.templates()) json["templates"].push_back(unit_json(*unit));
  json["network"] = fabric.unit_count() > 1 ? network_json(fabric.network()) : Json(nullptr);
  // Names may come from files in any encoding.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

extern const Writer json_writer;
const Writer json_writer = {"json", "JSON (docs/json.md)", write_json};

}  // namespace isleway::formats
