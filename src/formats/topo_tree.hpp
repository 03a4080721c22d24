// From pairwise distances to the tree of buses that causes them.
#pragma once

#include <array>
#include <vector>

#include "formats/topo_matrix.hpp"

namespace isleway::formats {

/// Distances in a tree obey d(a,c) <= max(d(a,b), d(b,c)): at each distance, devices fall into
/// groups, and nearer groups lie wholly inside farther ones.
struct TopoTree {
  /// Groups that nothing farther than PIX, PXB, PHB or NODE divides: one switch, the switches
  /// below one root port, a host bridge, a NUMA node.
  enum Level { leaf, root, bridge, node, level_count };
  std::vector<std::array<int, level_count>> group;  ///< by device; numbered from 0 a level
  std::array<int, level_count> groups{};

  /// PIX, PXB, PHB, NODE or SYS.
  PathKind distance(std::size_t a, std::size_t b) const;
};

/// Groups merge where most of the cells between them say so, which one wrong cell in a row
/// does not overturn; unknown cells (also NV#) have no vote. What contradicts the tree in the
/// end is noted.
TopoTree build_topo_tree(const TopoMatrix& matrix, Notebook& notes);

/// One NUMA node, with the devices that hang on it.
struct TopoNuma {
  int numa = -1;         ///< -1: the file does not say
  std::string affinity;  ///< "0-55,112-167"; may be empty or cut
  bool has_gpu = false;
};

struct TopoNumas {
  std::vector<TopoNuma> numas;  ///< by number
  std::vector<int> of_device;   ///< index in `numas`
};

/// True for a list of CPUs that nvidia-smi has cut, or may have: it prints six ranges at most,
/// so that a socket with every other CPU reads "0,2,4,6,8,10".
bool may_be_cut(std::string_view cpus);

/// Joins the tree's nodes that the affinity columns put on one NUMA node, and finds one for
/// devices of which the file says nothing. With `on_grace` the cells between GPUs and NICs
/// tell nothing, because nvidia-smi takes a GPU's own memory for its node.
TopoNumas assign_numas(const TopoMatrix& matrix, const TopoTree& tree, bool on_grace,
                       Notebook& notes);

}  // namespace isleway::formats
