// What is worth saying about a machine, gathered once for words and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isleway/fabric.hpp"

namespace isleway::report {

/// Equal devices: "8 x NVIDIA H100 80GB HBM3".
struct DeviceClass {
  DeviceKind kind = DeviceKind::gpu;
  std::string title;
  int count = 0;
};

/// Links of one kind between devices of the same two kinds.
struct LinkClass {
  LinkKind kind = LinkKind::nvlink;
  int generation = 0;
  std::string between;  ///< "GPU - NVSwitch"
  int bundles = 0;
  int links = 0, links_max = 0;  ///< up, fitted
  int degraded = 0;              ///< bundles with a link down or a lane lost
  int lanes_max = 0;             ///< of one link
  Rate link_rate;                ///< one link, one direction
  Rate rate;                     ///< all together, one direction, as trained now
};

/// A scale-up domain inside a unit.
struct Island {
  int gpus = 0;
  int nvlinks = 0, nvlinks_max = 0;  ///< of its first GPU
  Rate gpu_rate;                     ///< of its first GPU, one direction
  bool multicast = false;
};

/// A GPU and the NIC that serves it.
struct NicAffinity {
  std::string gpu, nic;
  PathKind path = PathKind::dis;
  Rate rate;
};

struct UnitSummary {
  std::vector<DeviceClass> devices;
  std::vector<LinkClass> links;
  std::vector<Island> islands;
  std::vector<NicAffinity> nics;
};

UnitSummary summarise(const Unit& unit, const Parts& parts);
std::vector<LinkClass> link_classes(const Unit& unit);

/// Switches of one tier of the network.
struct TierSummary {
  int tier = 0, switches = 0;
  Rate up, down;  ///< of all its switches together, one direction
  double oversubscription() const { return up.is_zero() ? 0 : down.GBs() / up.GBs(); }
};
std::vector<TierSummary> summarise(const Network& network);

/// "NVLink 4", "PCIe 5 x16".
std::string link_title(LinkKind kind, int generation, int lanes);
const char* title_of(DeviceKind kind);
const char* title_of(NetworkPlan::Shape shape);

}  // namespace isleway::report
