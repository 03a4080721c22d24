// A route cut into the single ways that packets take.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "isleway/core/error.hpp"
#include "isleway/fabric.hpp"

namespace isleway {

/// Which devices and network switches links join.
class LinkEnds {
 public:
  /// Any device or network switch of the fabric, as one number.
  using Place = std::uint64_t;

  explicit LinkEnds(const Fabric& fabric);
  /// From where to where a hop goes.
  std::pair<Place, Place> of(const Hop& hop) const;

 private:
  const Fabric& fabric_;
  std::vector<std::uint32_t> first_nic_;  ///< by unit; one more entry than units
};

/// One way through the planes of a route: its hops in order, and the share of the bytes.
struct PlanePath {
  double share = 1;
  std::vector<Hop> hops;
};

inline constexpr std::size_t kMostPaths = 4096;

/// What a route's hops say as shares of links, as a list of ways. A switch sends on what arrives
/// in proportion to the shares of the links that lead on. Error: more ways than kMostPaths, or
/// hops that do not join.
Result<std::vector<PlanePath>> plane_paths(const LinkEnds& ends, const Route& route);

}  // namespace isleway
