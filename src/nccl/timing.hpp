// What the machine takes, as opposed to what NCCL's model says: calibrated constants.
#pragma once

#include "nccl/routes.hpp"

namespace isleway::nccl {

/// Times and rates of one protocol.
struct ProtocolTiming {
  std::array<Time, kTransports> hop;      ///< until the receiver acts on a message
  std::array<Time, kTransports> message;  ///< that a sender spends on each message
  Rate block_rate;                        ///< payload that one channel's threads move
};

struct Timing {
  std::array<ProtocolTiming, kProtocolCount> protocol;
  Time launch;           ///< of a kernel, and what it does before the first byte
  Time launch_per_gpu;   ///< each further GPU that the same process launches on
  Time graph_saving;     ///< of that, what a CUDA graph saves
  Time nvls_hop;         ///< between a GPU and its switches, in-switch operations
  Rate nvls_block_rate;  ///< payload that one channel copies into or out of multicast memory

  /// Error: names the constant that the catalogue lacks.
  static Result<Timing> read(const Parts& parts, Architecture architecture);
};

}  // namespace isleway::nccl
