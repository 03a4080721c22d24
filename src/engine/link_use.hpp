// Links as capacities that flows share, and what they carried in the end.
#pragma once

#include <optional>
#include <span>
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

  explicit LinkUse(const Fabric& fabric)
      : fabric_(fabric), resource_of_link_(std::size_t{fabric.link_count()} * kShares, kNone) {}

  /// `route` is null (local) or exists, and outlives this object.
  Way way(const Route* route, Mover mover);
  std::size_t way_count() const { return ways_.size(); }
  /// What one byte per second of wire rate uses; indices are into capacities().
  std::span<const Usage> uses(Way way) const {
    return std::span(uses_).subspan(ways_[way].first_use, ways_[way].use_count);
  }
  /// The same for hops that are no way; appended.
  void append_uses(std::span<const Hop> hops, Mover mover, std::vector<Usage>& uses);
  LinkId link_count() const { return fabric_.link_count(); }
  /// In bytes per second.
  const std::vector<double>& capacities() const { return capacity_; }
  /// The resources of a link that are in use.
  std::vector<std::uint32_t> resources_of(LinkId link) const;

  void add(Way way, double wire_bytes) { ways_[way].wire_bytes += wire_bytes; }
  void add(std::span<const Hop> hops, Mover mover, double wire_bytes);
  /// Seconds for which each resource is busy with all that was added, by resource.
  std::vector<double> busy_seconds() const;
  /// The first resource without capacity among these.
  std::optional<std::uint32_t> dead_resource(std::span<const Usage> uses) const;
  /// Name of the link that a resource stands for.
  std::string link_name_of(std::uint32_t resource) const {
    return fabric_.link_name(resource_of_[resource].link);
  }
  std::string link_name(LinkId link) const { return fabric_.link_name(link); }
  /// What each link carried while `whole` passed, by (link, direction).
  std::vector<LinkLoad> loads(Time whole) const;
  /// Fills in the loads and the bottleneck of an outcome whose time is known.
  void report(Outcome& outcome) const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  enum Share : std::uint8_t { forward, backward, both };
  static constexpr std::size_t kShares = 3;
  struct WayInfo {
    const Route* route = nullptr;
    std::size_t first_use = 0, use_count = 0;
    double wire_bytes = 0;
  };
  struct Owner {
    LinkId link;
    Share share;
  };
  std::uint32_t resource(LinkId link, Share share, const Link& properties);
  std::uint32_t known_resource(LinkId link, Share share) const {
    return resource_of_link_[std::size_t{link} * kShares + share];
  }

  const Fabric& fabric_;
  std::vector<WayInfo> ways_{WayInfo{}};
  std::vector<Usage> uses_, scratch_;
  std::vector<double> capacity_;
  std::vector<Owner> resource_of_;
  /// Beside the ways' bytes, by resource: bytes on the wire, and those times their weight.
  std::vector<double> wire_, weighted_;
  std::unordered_map<std::uint64_t, Way> way_of_route_;
  std::vector<std::uint32_t> resource_of_link_;
};

/// The connection, checked: it has a route or needs none, and its numbers make sense.
Result<Connection> checked_connection(const Schedule& schedule, const Wiring& wiring, Port from,
                                      Port to);

}  // namespace isleway
