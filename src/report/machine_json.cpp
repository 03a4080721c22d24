#include <algorithm>

#include "isleway/report/machine.hpp"
#include "report/json.hpp"
#include "report/summary.hpp"

namespace isleway::report {
namespace {

Json link_json(const LinkClass& link) {
  Json json;
  json["kind"] = name_of(link.kind);
  json["generation"] = link.generation;
  json["between"] = link.between;
  json["bundles"] = link.bundles;
  json["links_up"] = link.links;
  json["links_fitted"] = link.links_max;
  json["degraded_bundles"] = link.degraded;
  json["lanes"] = link.lanes_max;
  json["link_GBs"] = rounded(link.link_rate.GBs(), 4);
  json["total_GBs"] = rounded(link.rate.GBs(), 4);
  return json;
}

Json island_json(const Island& island) {
  Json json;
  json["gpus"] = island.gpus;
  json["nvlinks_up"] = island.nvlinks;
  json["nvlinks_fitted"] = island.nvlinks_max;
  json["gpu_GBs"] = rounded(island.gpu_rate.GBs(), 4);
  json["multicast"] = island.multicast;
  return json;
}

Json nic_json(const NicAffinity& nic) {
  Json json;
  json["gpu"] = nic.gpu;
  json["nic"] = text_or_null(nic.nic);
  json["path"] = name_of(nic.path);
  json["gbits"] = rounded(nic.rate.gbits(), 4);
  return json;
}

/// Paths between the GPUs of one host; racks of many hosts have none.
Json paths_json(const Unit& unit) {
  Json rows = Json::array();
  for (const DeviceIndex a : unit.gpus()) {
    Json row = Json::array();
    for (const DeviceIndex b : unit.gpus()) {
      const int nvlinks = nvlinks_between(unit, a, b);
      row.push_back(nvlinks > 0 ? "NV" + std::to_string(nvlinks) : name_of(path_kind(unit, a, b)));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json unit_json(const Unit& unit, const Parts& parts, std::uint32_t count) {
  const UnitSummary summary = summarise(unit, parts);
  Json json;
  json["name"] = unit.name();
  json["title"] = unit.parts().title;
  json["count"] = count;
  json["hosts"] = unit.parts().hosts;
  json["announced"] = unit.parts().announced;
  json["source"] = unit.parts().source;
  for (const char* list : {"devices", "islands", "links", "nic_affinity"})
    json[list] = Json::array();
  for (const DeviceClass& one : summary.devices)
    json["devices"].push_back(
        {{"kind", title_of(one.kind)}, {"title", one.title}, {"count", one.count}});
  for (const Island& one : summary.islands) json["islands"].push_back(island_json(one));
  for (const LinkClass& one : summary.links) json["links"].push_back(link_json(one));
  for (const NicAffinity& one : summary.nics) json["nic_affinity"].push_back(nic_json(one));
  if (unit.parts().hosts == 1) json["gpu_paths"] = paths_json(unit);
  return json;
}

Json network_json(const Network& network) {
  Json json;
  json["name"] = network.plan().name;
  json["shape"] = title_of(network.plan().shape);
  json["technology"] = network.plan().technology;
  json["tiers"] = Json::array();
  for (const TierSummary& tier : summarise(network))
    json["tiers"].push_back({{"tier", tier.tier},
                             {"switches", tier.switches},
                             {"down_GBs", rounded(tier.down.GBs(), 4)},
                             {"up_GBs", rounded(tier.up.GBs(), 4)},
                             {"oversubscription", rounded(tier.oversubscription(), 4)}});
  return json;
}

}  // namespace

std::string machine_json(const Fabric& fabric, const Parts& parts) {
  Json json;
  json["machine"] = fabric.name();
  json["hosts"] = fabric.host_count();
  json["gpus"] = fabric.gpu_count();
  json["islands"] = fabric.island_count();
  json["bisection_GBs"] =
      fabric.gpu_count() > 1 ? Json(rounded(bisection(fabric).GBs(), 4)) : Json();
  json["network"] = fabric.unit_count() > 1 ? network_json(fabric.network()) : Json();
  json["units"] = Json::array();
  for (std::uint32_t i = 0; i < fabric.templates().size(); ++i) {
    const auto& all = fabric.unit_templates();
    json["units"].push_back(
        unit_json(*fabric.templates()[i], parts,
                  static_cast<std::uint32_t>(std::count(all.begin(), all.end(), i))));
  }
  return document(json);
}

}  // namespace isleway::report
