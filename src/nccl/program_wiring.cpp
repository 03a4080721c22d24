#include "nccl/program_wiring.hpp"

namespace isleway::nccl {
namespace {

constexpr int kNeverFull = 1 << 30;

/// What the base is asked for: a peer to send to and one to receive from.
CollectiveCall as_peers(CollectiveCall call) {
  call.collective = Collective::sendrecv;
  return call;
}

}  // namespace

// MSCCL's slices are a quarter of a buffer with the Simple protocol, a slot with the others.
ProgramWiring::ProgramWiring(const NcclWiring::Context& context, const CollectiveCall& call,
                             const Decision& decision, bool one_sided)
    : base_(context, as_peers(call), decision),
      ranks_(context.graphs.ranks()),
      own_rate_(context.timing.own_rate),
      multicast_rate_(context.timing.nvls_block_rate),
      credits_(one_sided                               ? kNeverFull
               : decision.protocol == Protocol::simple ? 4
                                                       : kSlots) {}

Connection ProgramWiring::connection(Port from, Port to) const {
  Connection connection;
  if (from.agent == to.agent) {
    connection.cap = own_rate_;
    connection.credits = kNeverFull;
    return connection;
  }
  connection = base_.connection(from, to);
  connection.credits = credits_;
  // What goes through the switch's reduction and multicast is loaded and stored by threads, too.
  if (from.agent >= ranks_ || to.agent >= ranks_) connection.cap = multicast_rate_;
  return connection;
}

}  // namespace isleway::nccl
