// How far each NIC is from each GPU of a node, by topo -m or NCCL's topology file.
#pragma once

#include <string>
#include <vector>

#include "check/facts.hpp"

namespace isleway::check {

/// Near to far, as topo -m names it.
enum class Distance { pix, pxb, phb, node, sys, none };
const char* name_of(Distance distance);

class NicDistances {
 public:
  explicit NicDistances(const NodeFacts& node);

  int gpus() const { return static_cast<int>(gpus_.size()); }
  int nics() const { return static_cast<int>(nics_.size()); }
  const std::string& gpu(int g) const { return gpus_[g]; }
  /// As the node's own tools call it: "mlx5_0", where a legend says so.
  const std::string& nic(int n) const { return nics_[n]; }
  Distance at(int g, int n) const { return distances_[g * nics() + n]; }
  const Signal* line(int g, int n) const { return lines_[g * nics() + n]; }
  Distance nearest_of_gpu(int g) const;
  Distance nearest_of_nic(int n) const;
  /// Behind the same PCIe switch: what GPUDirect RDMA wants.
  static bool is_near(Distance distance) { return distance <= Distance::pxb; }
  std::vector<int> near_nics(int g) const;

 private:
  std::vector<std::string> gpus_, nics_;
  std::vector<Distance> distances_;
  std::vector<const Signal*> lines_;
};

}  // namespace isleway::check
