// Peer-to-peer copies as p2pBandwidthLatencyTest and nvbandwidth print them, and as JSON.
#pragma once

#include <string>

#include "isleway/collective.hpp"

namespace isleway::report {

/// Everything but the CPU's latencies, which are not simulated.
std::string p2p_test_text(const Fabric& fabric, const Parts& parts, const CopyMatrices& copies);

/// nvbandwidth's copy-engine tests between host and GPU, and between GPUs; "N/A" where
/// there is no peer access, as there.
std::string nvbandwidth_text(const Fabric& fabric, const Parts& parts, const CopyMatrices& copies,
                             const HostCopies& host);

/// See docs/json.md.
std::string copies_json(const Fabric& fabric, const CopyMatrices& copies, const HostCopies& host);

}  // namespace isleway::report
