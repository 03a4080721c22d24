#include "fabric/catalogue_network.hpp"

#include "fabric/parts_reader.hpp"

namespace isleway {
namespace {

struct ShapeName {
  const char* name;
  NetworkPlan::Shape shape;
};
constexpr ShapeName kShapes[] = {
    {"ideal", NetworkPlan::Shape::ideal},
    {"rail", NetworkPlan::Shape::rail},
    {"fat-tree-2", NetworkPlan::Shape::fat_tree_2},
    {"fat-tree-3", NetworkPlan::Shape::fat_tree_3},
    {"dragonfly+", NetworkPlan::Shape::dragonfly_plus},
};

}  // namespace

NetworkPlan read_network(YamlFile& file) {
  NetworkPlan plan;
  YamlMap map(file, file.root(), "the network");
  SourceList sources;
  sources.read(file, map);
  plan.name = map.required_text("name");
  map.text("title");
  map.texts("aliases");
  const std::string shape = map.required_text("shape");
  std::vector<std::string> known;
  bool found = false;
  for (const ShapeName& s : kShapes) {
    known.emplace_back(s.name);
    if (shape != s.name) continue;
    plan.shape = s.shape;
    found = true;
  }
  if (!found) file.fail_unknown(map.take("shape"), "shape", shape, known);
  plan.technology = map.text("technology", plan.technology);
  plan.port_rate = map.rate("port_rate");
  plan.leaf_ports = map.integer("leaf_ports", plan.leaf_ports, 2, 4096);
  plan.hosts_per_group = map.integer("hosts_per_group", 0, 1, 1 << 20);
  plan.oversubscription = map.number("oversubscription", 1, 0.1, 1000);
  plan.upper_oversubscription = map.number("upper_oversubscription", 1, 0.1, 1000);
  plan.groups_joined = map.integer("groups_joined", 0, 1, 4096);
  plan.switch_latency = map.time("switch_latency");
  plan.cable_latency = map.time("cable_latency");
  plan.efficiency = map.number("efficiency", 1, 0.01, 1);
  plan.source = sources.resolve(file, map);
  map.finish();
  return plan;
}

}  // namespace isleway
