// Peer-to-peer copies: the matrices that p2pBandwidthLatencyTest and nvbandwidth print.
#pragma once

#include <memory>
#include <vector>

#include "isleway/engine/engine.hpp"

namespace isleway {

/// Square, by GPU number; the diagonal is a GPU's copy to itself.
using Matrix = std::vector<std::vector<double>>;

struct CopyMatrices {
  Matrix unidirectional_GBs, bidirectional_GBs;  ///< peer access on where there is any
  Matrix bidirectional_read_GBs;  ///< each GPU fetches, where `bidirectional_GBs` has it write
  Matrix unidirectional_no_p2p_GBs, bidirectional_no_p2p_GBs;  ///< through host memory
  Matrix latency_us, latency_no_p2p_us;
  std::vector<std::vector<PathKind>> path;
  std::vector<std::vector<bool>> peer_access;
};

/// Host copies, as nvbandwidth's first rows print them; one value a GPU.
struct HostCopies {
  std::vector<double> host_to_device_GBs, device_to_host_GBs;
};

struct CopyOptions {
  /// GPUs at their full clock, as under load. One that does nothing but copy is mostly below
  /// it, and its crossbar with it: docs/p2p.md.
  bool full_clock = false;
  /// What times the copies; the closed form where it is null.
  std::shared_ptr<const Engine> engine = nullptr;
};

/// All pairs of the fabric's GPUs on one island or host. Error: too many GPUs for a matrix
/// (more than 1024).
Result<CopyMatrices> copy_matrices(const Fabric& fabric, const Parts& parts,
                                   const CopyOptions& options = {});
Result<HostCopies> host_copies(const Fabric& fabric, const Parts& parts,
                               const CopyOptions& options = {});

/// GB/s of two GPUs' copies to one another at the same time, over peer access where there is
/// any: one cell of `bidirectional_GBs`, for who looks on with a recorder. Error: no way.
Result<double> exchange_rate(const Fabric& fabric, const Parts& parts, GpuId a, GpuId b,
                             const CopyOptions& options = {});

}  // namespace isleway
