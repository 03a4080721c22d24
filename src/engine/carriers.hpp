// Connections that flow alike: over the same way, with the same cap.
#pragma once

#include <vector>

#include "engine/link_use.hpp"

namespace isleway {

/// Numbers pairs of a way and a cap from 0, in the order in which they are first asked for.
class Carriers {
 public:
  struct Carrier {
    LinkUse::Way way;
    double cap;                       ///< wire bytes per second
    std::uint32_t next = UINT32_MAX;  ///< another of the same way
  };

  /// The number, and whether it is new.
  std::pair<std::uint32_t, bool> number(LinkUse& links, const Connection& connection) {
    const LinkUse::Way way = links.way(connection.route, connection.mover);
    const double cap = connection.cap.bytes_per_second() * connection.wire_expansion;
    if (first_.size() <= way) first_.resize(links.way_count(), UINT32_MAX);
    for (std::uint32_t i = first_[way]; i != UINT32_MAX; i = all_[i].next)
      if (all_[i].cap == cap) return {i, false};
    all_.push_back({way, cap, first_[way]});
    return {first_[way] = static_cast<std::uint32_t>(all_.size() - 1), true};
  }
  const std::vector<Carrier>& all() const { return all_; }

 private:
  std::vector<Carrier> all_;
  std::vector<std::uint32_t> first_;  ///< by way
};

}  // namespace isleway
