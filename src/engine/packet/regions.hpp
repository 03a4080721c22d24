// Which parts of a fabric can be simulated beside one another.
#pragma once

#include <cstdint>
#include <vector>

#include "isleway/core/error.hpp"
#include "isleway/engine/schedule.hpp"
#include "isleway/engine/wiring.hpp"

namespace isleway {

/// Neighbours in the network: units, and the switches above them. Nothing gets from one region to
/// another sooner than `lookahead` after it was decided, which is the latency of the quickest
/// cable. A link belongs, in both directions, to the region of its lower end, so that a way leaves
/// a region only by a link of the network.
class Regions {
 public:
  /// As the network's size has it, whatever runs on it: of kNics NICs, or one unit where that has
  /// more; larger where there would be more than kMost. One, where a cable without latency leaves
  /// no lookahead.
  explicit Regions(const Fabric& fabric);

  static constexpr std::uint32_t kMost = 64;
  static constexpr std::size_t kNics = 32;

  std::uint32_t count() const { return count_; }
  std::uint32_t of(LinkId link) const;
  std::int64_t lookahead() const { return lookahead_; }  ///< ps
  /// What a region is called now that some are merged.
  std::uint32_t number(std::uint32_t region) const { return number_[root(region)]; }
  void merge(std::uint32_t a, std::uint32_t b);
  /// After the last merge: numbers what is left from 0.
  void settle();

 private:
  std::uint32_t root(std::uint32_t region) const;
  std::uint32_t lower_end(std::size_t trunk) const;
  void place_switches();

  const Fabric& fabric_;
  std::uint32_t count_ = 1;
  std::int64_t lookahead_ = 0;
  std::vector<std::uint32_t> of_unit_, of_switch_;
  std::vector<std::uint32_t> first_nic_;  ///< by unit; one more entry than units
  std::vector<std::uint32_t> parent_;     ///< merged into which
  std::vector<std::uint32_t> number_;     ///< by root
};

/// A schedule on a fabric in regions: every agent lives where its messages begin and end.
struct Division {
  struct Made {
    Port from, to;
    Connection connection;
  };
  Regions regions;
  std::vector<std::uint32_t> of_agent;
  std::vector<Made> connections;  ///< all of them; none are looked up where there is one region
};

/// Error: of a connection that is wrong.
Result<Division> divide(const Fabric& fabric, const Schedule& schedule, const Wiring& wiring);

}  // namespace isleway
