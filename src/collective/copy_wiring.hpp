// What copies by the GPUs' copy engines cost.
#pragma once

#include <utility>
#include <vector>

#include "collective/copy_ways.hpp"
#include "isleway/engine.hpp"

namespace isleway {

/// Calibrated numbers, from machines/parts. The keys there say what each was measured on.
struct CopyPrices {
  Time launch;         ///< copy.launch: of a copy between peers
  Time staged_launch;  ///< copy.staged_launch: of one through host memory
  Time staged_chunk;   ///< copy.staged_chunk: the driver's work on each chunk that it stages
  double staged_one_port = 1;   ///< copy.staged_one_port: of its speed, in one port up and down
  double staged_both_ways = 1;  ///< copy.staged_both_ways: of its speed, beside one the other way
  double peer_share = 1;        ///< pcie.peer_share: of the rate to the host, what peers get

  /// The driver stages this much at a time.
  static constexpr Bytes kChunk = Bytes::mib(1);

  /// Error: the catalogue lacks a constant (which).
  static Result<CopyPrices> from(const Parts& parts);
};

// Connections of single copies. The routes must outlive them.
Connection peer_copy(const CopyPrices& prices, const Route& route);
/// How two GPUs copy to one another at once.
struct Exchange {
  bool reading = false;    ///< each fetches from the other: requests travel against the data
  bool low_clock = false;  ///< the GPUs have not raised their clock
};
std::vector<Connection> peer_exchange(const CopyPrices& prices, const Parts& parts,
                                      const Fabric& fabric, const Route& there, const Route& back,
                                      const Exchange& how);
Connection host_copy(const CopyPrices& prices, const Route& route);
/// `both_ways`: another copy the other way runs at once, and the driver stages both.
Connection staged_copy(const CopyPrices& prices, const Fabric& fabric, const StagedWay& way,
                       bool both_ways);

/// Copies that run at the same time, in the order of make_copy's pairs.
class CopyWiring final : public Wiring {
 public:
  explicit CopyWiring(std::vector<Connection> copies) : copies_(std::move(copies)) {}
  Connection connection(Port from, Port) const override {
    return copies_[static_cast<std::size_t>(from.stream) / 2];  // as make_copy numbers streams
  }
  Time start() const override { return Time(); }

 private:
  std::vector<Connection> copies_;
};

}  // namespace isleway
