// The price of each connection of an algorithm that a file holds.
#pragma once

#include "nccl/wiring.hpp"

namespace isleway::nccl {

/// Between GPUs as a send and receive of the same protocol; NIC and rail as for those, too. What
/// threadblocks of one GPU tell one another costs nothing, what they hand to one another is
/// copied by one of them.
class ProgramWiring final : public Wiring {
 public:
  /// `one_sided`: nothing waits for the receiver to make room.
  ProgramWiring(const NcclWiring::Context& context, const CollectiveCall& call,
                const Decision& decision, bool one_sided);

  Connection connection(Port from, Port to) const override;
  /// Copies and reductions between buffers; what is reduced as it arrives keeps up with the link.
  Rate own_rate(bool reduces) const override { return reduces ? Rate::unlimited() : own_rate_; }
  Time start() const override { return base_.start(); }

 private:
  NcclWiring base_;
  int ranks_;
  Rate own_rate_, multicast_rate_;
  int credits_;
};

}  // namespace isleway::nccl
