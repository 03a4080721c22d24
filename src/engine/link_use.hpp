// Links as capacities that flows share, and what they carried in the end.
#pragma once

#include <unordered_map>
#include <vector>

#include "isleway/engine/engine.hpp"
#include "isleway/engine/max_min.hpp"

namespace isleway {

/// Numbers the ways that the connections of one run take. A way is a route and a mover:
/// connections that agree in both use the same links equally.
///
/// Each direction of a link is a resource whose capacity is the nominal rate; a mover that
/// gets only a part of it for payload uses more than one unit per byte. So movers of
/// unequal efficiency can share a link. Copy engines that drive both directions of a link
/// which cannot run both at full rate share one more resource, the sum of the two.
class LinkUse {
 public:
  using Way = std::uint32_t;
  /// The way of connections that stay on one device. They share nothing.
  static constexpr Way kLocal = 0;

  explicit LinkUse(const Fabric& fabric) : fabric_(fabric) {}

  /// `route` is null (local) or exists, and outlives this object.
  Way way(const Route* route, Mover mover);
  std::size_t way_count() const { return ways_.size(); }
  /// What one byte per second of wire rate uses; indices are into capacities().
  std::span<const Usage> uses(Way way) const {
    return std::span(uses_).subspan(ways_[way].first_use, ways_[way].use_count);
  }
  /// In bytes per second.
  const std::vector<double>& capacities() const { return capacity_; }

  void add(Way way, double wire_bytes) { ways_[way].wire_bytes += wire_bytes; }
  /// Seconds for which each resource is busy with all that was added, by resource.
  std::vector<double> busy_seconds() const;
  /// A link on this way that carries nothing, for messages; empty when there is none.
  std::string dead_link(Way way) const;
  /// Fills in the loads and the bottleneck of an outcome whose time is known.
  void report(Outcome& outcome) const;

 private:
  struct WayInfo {
    const Route* route = nullptr;
    std::size_t first_use = 0, use_count = 0;
    double wire_bytes = 0;
  };
  enum Share : LinkId { forward, backward, both };
  std::uint32_t resource(LinkId link, Share share, const Link& properties);

  const Fabric& fabric_;
  std::vector<WayInfo> ways_{WayInfo{}};
  std::vector<Usage> uses_;
  std::vector<double> capacity_;
  std::vector<std::pair<LinkId, Share>> resource_of_;
  std::unordered_map<std::uint64_t, Way> way_of_route_;
  std::unordered_map<std::uint64_t, std::uint32_t> resource_of_link_;
};

/// The connection, checked: it has a route or needs none, and its numbers make sense.
Result<Connection> checked_connection(const Schedule& schedule, const Wiring& wiring, Port from,
                                      Port to);

}  // namespace isleway
