#include "collective/copy_wiring.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "isleway/core/text.hpp"

namespace isleway {
namespace {

bool over_pcie(PathKind kind) {
  return kind != PathKind::nvl && kind != PathKind::nvb && kind != PathKind::c2c;
}

/// "copy.low_clock.nvlink3": of this kind of link, or 1 where nothing is known of it.
double share_on(const Parts& parts, const char* what, const Link& link) {
  const Constant* share = parts.constant(
      fmt::format("copy.{}.{}{}", what, to_lower(name_of(link.kind)), link.generation));
  return share != nullptr && share->value > 0 ? share->value : 1;
}

}  // namespace

Result<CopyPrices> CopyPrices::from(const Parts& parts) {
  CopyPrices prices;
  std::optional<Error> error;
  const auto read = [&](const char* key) {
    if (const Constant* constant = parts.constant(key)) return constant->value;
    if (!error)
      error = Error{{},
                    std::string("the parts catalogue has no constant ") + key,
                    "it among the constants of a file in machines/parts",
                    "take machines/parts/copies.yaml from the program's own data"};
    return 0.0;
  };
  prices.launch = Time::us(read("copy.launch"));
  prices.staged_launch = Time::us(read("copy.staged_launch"));
  prices.staged_chunk = Time::us(read("copy.staged_chunk"));
  prices.staged_one_port = read("copy.staged_one_port");
  prices.staged_both_ways = read("copy.staged_both_ways");
  prices.peer_share = read("pcie.peer_share");
  if (error) return tl::unexpected(*error);
  return prices;
}

Connection peer_copy(const CopyPrices& prices, const Route& route) {
  Connection copy;
  copy.route = &route;
  copy.mover = Mover::copy_engine;
  copy.latency = prices.launch + route.latency;
  if (over_pcie(route.kind)) copy.wire_expansion = 1 / prices.peer_share;
  return copy;
}

std::vector<Connection> peer_exchange(const CopyPrices& prices, const Parts& parts,
                                      const Fabric& fabric, const Route& there, const Route& back,
                                      const Exchange& how) {
  std::vector<Connection> copies = {peer_copy(prices, there), peer_copy(prices, back)};
  for (Connection& copy : copies) {
    if (copy.route->hops.empty()) continue;
    const Link& link = fabric.link(copy.route->hops.front().link);
    if (how.reading) copy.wire_expansion /= share_on(parts, "read_both_ways", link);
    // All links of a GPU are busy only through switches, and only then does its crossbar limit.
    const bool through_switches = copy.route->hops.size() > 1;
    if (how.low_clock && through_switches)
      copy.wire_expansion /= share_on(parts, "low_clock", link);
  }
  return copies;
}

Connection host_copy(const CopyPrices& prices, const Route& route) {
  Connection copy;
  copy.route = &route;
  copy.mover = Mover::copy_engine;
  copy.latency = prices.launch + route.latency;
  return copy;
}

Connection staged_copy(const CopyPrices& prices, const Fabric& fabric, const StagedWay& way,
                       bool both_ways) {
  Connection copy;
  copy.route = &way.route;
  copy.mover = Mover::copy_engine;
  copy.latency = prices.staged_launch + way.route.latency;
  const double kept = way.crosses_itself ? prices.staged_one_port
                      : both_ways        ? prices.staged_both_ways
                                         : 1;
  // In one port, the chunks of both directions follow one another.
  const int chunks = both_ways && way.crosses_itself ? 2 : 1;
  copy.overhead = Time::seconds(prices.staged_chunk.seconds() * chunks / kept);
  if (kept >= 1) return copy;
  // A PCIe wire whose two directions are both busy is slower by its own duplex, which is part
  // of what was measured. That of C2C was measured on host memory and is all there is.
  double duplex = 0;
  for (const Hop& hop : way.route.hops) {
    const Link& link = fabric.link(hop.link);
    if (link.kind == LinkKind::pcie) duplex = std::max(duplex, link.efficiency.duplex);
  }
  copy.wire_expansion = std::max(1.0, duplex / kept);
  return copy;
}

}  // namespace isleway
