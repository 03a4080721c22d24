// Slurm's topology as both of its file formats describe it.
#pragma once

#include <string>
#include <vector>

#include "formats/signal_sink.hpp"

namespace isleway::formats {

/// One `SwitchName=` line, or one entry of topology.yaml.
struct SlurmSwitch {
  std::string name;
  std::vector<std::string> switches;  ///< below it
  std::size_t nodes = 0;
  std::size_t line = 0;  ///< from 0
};

/// Says `slurm.switch`, `slurm.uplink`, `slurm.nodes` and `slurm.islands` of a tree, whose
/// topology is named `topology` (or empty).
void add_slurm_tree(SignalSink& sink, const std::vector<SlurmSwitch>& switches,
                    const std::string& topology);

/// Says where each node of a list is: `slurm.node_of`. Returns how many there are.
std::size_t add_slurm_nodes(SignalSink& sink, std::string_view list, const std::string& place);

}  // namespace isleway::formats
