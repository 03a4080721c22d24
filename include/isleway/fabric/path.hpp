// How two devices reach one another, in the field's own words.
#pragma once

#include <string>
#include <vector>

#include "isleway/core/units.hpp"

namespace isleway {

/// Ordered from near to far; the order is NCCL 2.27's, with nvidia-smi's NODE put in
/// between. NODE crosses host bridges inside one NUMA node (NCCL calls that PHB as well).
enum class PathKind : std::uint8_t {
  loc,   ///< the device itself
  nvl,   ///< NVLink, direct or through NVSwitches
  nvb,   ///< NVLink through one more GPU
  c2c,   ///< NVLink-C2C
  pix,   ///< at most one PCIe switch
  pxb,   ///< several PCIe switches, no host bridge
  p2c,   ///< C2C to the CPU, then PCIe to the NIC
  pxn,   ///< NVLink to the GPU beside the NIC
  phb,   ///< a PCIe host bridge
  node,  ///< between host bridges of one NUMA node
  sys,   ///< between NUMA nodes
  net,   ///< over the network
  dis,   ///< not at all
};

/// "NVL", "PIX", ... as NCCL and nvidia-smi print it ("X" for loc, as topo -m does).
const char* name_of(PathKind kind);

/// Directed use of one link (bundle) by a route.
struct Hop {
  std::uint32_t link = 0;  ///< fabric-wide link number
  bool forward = true;     ///< from the link's `a` to its `b`
  float share = 1;         ///< of the route's bytes, when they are sprayed over planes
};

/// Where bytes go between two endpoints. A route through several NVSwitches lists every
/// plane's links, each with the share of the bytes that it carries.
struct Route {
  PathKind kind = PathKind::dis;
  Time latency;  ///< of the longest plane, first byte
  std::vector<Hop> hops;

  bool exists() const { return kind != PathKind::dis; }
};

}  // namespace isleway
