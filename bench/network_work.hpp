// S3: hosts of a fat tree send to one another at 400 Gb/s in packets of 4 KiB. The work as plain
// data, so that it can be given to ns-3, whose headers want C++17.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace isleway::bench {

struct NetworkWork {
  struct Link {
    std::int64_t latency_ps = 0;
    std::uint64_t bits_per_second = 0;
    std::uint32_t members_a = 1, members_b = 1;  ///< of the switch groups at its ends
  };
  struct Cable {
    std::uint32_t link = 0;
    std::uint32_t node_a = 0, node_b = 0;
    std::uint32_t member_a = 0, member_b = 0;
  };
  struct Hop {
    std::uint32_t link = 0;
    bool forward = true;
  };

  std::uint32_t nodes = 0;
  std::vector<Link> links;
  std::vector<Cable> cables;
  std::vector<std::vector<Hop>> ways;  ///< by flow
  std::int64_t bytes = 0;              ///< of each flow

  static constexpr int kPayload = 4096, kHeaders = 82;
};

struct NetworkResult {
  std::vector<double> finish_us;  ///< by flow, when its last byte was there
  double seconds = 0;             ///< of processor time
};

/// Point-to-point devices with drop-tail queues that hold everything, and switches that send each
/// packet to the shortest queue: no Internet stack, which would only cost time.
NetworkResult with_ns3(const NetworkWork& work);

}  // namespace isleway::bench
