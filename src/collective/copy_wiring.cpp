#include "collective/copy_wiring.hpp"

#include <algorithm>

namespace isleway {
namespace {

bool over_pcie(PathKind kind) {
  return kind != PathKind::nvl && kind != PathKind::nvb && kind != PathKind::c2c;
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
  prices.host_duplex = read("copy.host_duplex");
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
  copy.overhead = prices.staged_chunk * (both_ways ? 2 : 1);
  copy.cap = way.limit;
  if (!both_ways && !way.crosses_itself) return copy;
  // Some port reads and writes host memory at once, which costs more than the wire's own
  // duplex says. C2C is measured on just that.
  double duplex = prices.host_duplex;
  for (const Hop& hop : way.route.hops) {
    const Link& link = fabric.link(hop.link);
    if (link.kind == LinkKind::pcie) duplex = std::max(duplex, link.efficiency.duplex);
  }
  copy.wire_expansion = duplex / prices.host_duplex;
  return copy;
}

}  // namespace isleway
