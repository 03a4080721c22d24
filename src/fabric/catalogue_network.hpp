// From a network's YAML to a NetworkPlan.
#pragma once

#include "fabric/yaml_reader.hpp"
#include "isleway/fabric/network.hpp"

namespace isleway {

/// What the file describes; only good while file.ok().
NetworkPlan read_network(YamlFile& file);

}  // namespace isleway
