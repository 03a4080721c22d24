// What a payload of some bytes is on the wire.
#pragma once

#include <cstdint>

#include "isleway/fabric/device.hpp"

namespace isleway::link {

/// A link cuts payload into packets of at most `payload` bytes, rounds the last one up to whole
/// units, and adds `header` bytes to each.
struct Framing {
  int payload = 4096;
  int header = 0;
  int unit = 1;

  friend bool operator==(const Framing&, const Framing&) = default;

  std::int64_t packets(std::int64_t bytes) const { return (bytes + payload - 1) / payload; }
  std::int64_t wire_bytes(std::int64_t bytes) const {
    const std::int64_t rest = bytes % payload;
    const std::int64_t full = bytes / payload;
    const std::int64_t last = rest == 0 ? 0 : header + (rest + unit - 1) / unit * unit;
    return full * wire_bytes_of_full() + last;
  }
  std::int64_t wire_bytes_of_full() const {
    return header + (std::int64_t{payload} + unit - 1) / unit * unit;
  }
  /// Share of the wire that payload gets in full packets.
  double efficiency() const {
    return static_cast<double>(payload) / static_cast<double>(wire_bytes_of_full());
  }
};

}  // namespace isleway::link
