// What the machine takes, as opposed to what NCCL's model says: calibrated constants.
#pragma once

#include "nccl/routes.hpp"

namespace isleway::nccl {

/// Times and rates of one protocol.
struct ProtocolTiming {
  std::array<Time, kTransports> hop;      ///< until the receiver acts on a message
  std::array<Time, kTransports> message;  ///< that a sender spends on each message
  Rate block_rate;                        ///< payload that one channel's threads move

  friend bool operator==(const ProtocolTiming&, const ProtocolTiming&) = default;
};

struct Timing {
  std::array<ProtocolTiming, kProtocolCount> protocol;
  Time kernel;        ///< from the end of a kernel until the next one moves its first byte
  Time host;          ///< of a call and its launch, in the host's thread, for each GPU
  Time host_peer;     ///< more for each send and receive of a group
  Time graph_saving;  ///< of the host's time, what a CUDA graph saves
  Time drift;         ///< what the channels of a call drift apart, see Communicator::skew
  Time nvls_hop;      ///< between a GPU and its switches, in-switch operations
  Rate own_rate;      ///< payload that one channel copies or reduces for its own GPU
  Time proxy_peer;    ///< of the proxy that serves the network, for each peer of a group
  double network_reduction = 1;  ///< of a port's rate, where the network's switches reduce
  Rate nvls_block_rate;  ///< payload that one channel copies into or out of multicast memory

  Time stack;  ///< that the network's software adds to every hop

  friend bool operator==(const Timing&, const Timing&) = default;

  /// `network` is a technology ("infiniband"), empty inside one node; a technology without a
  /// constant adds nothing.
  /// Error: names the constant that the catalogue lacks.
  static Result<Timing> read(const Parts& parts, Architecture architecture,
                             const std::string& network);
};

}  // namespace isleway::nccl
