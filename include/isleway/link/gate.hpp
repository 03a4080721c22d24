// Who may send: a receiver's buffer, as credits or as pause frames.
#pragma once

#include <algorithm>
#include <cstdint>

namespace isleway::link {

/// The sender's view of the buffer at the other end of a link. Credits (NVLink: flits for each
/// virtual channel; PCIe: headers and 16-byte units; InfiniBand: 64-byte blocks): a packet may
/// go when the buffer has room for it. Pause (PFC): once the buffer is full to `limit`, nothing
/// goes until it has fallen to `resume`.
class Gate {
 public:
  struct Rules {
    std::int64_t limit_bytes = 0;    ///< of buffer
    std::int64_t limit_packets = 0;  ///< header credits; 0: no such limit
    std::int64_t resume_bytes = -1;  ///< PFC: XON; below 0: credits
    /// What is longer leaves the buffer while it still comes in, and never fills more of it than
    /// this; 0: no such limit.
    std::int64_t most_at_once = 0;
  };
  explicit Gate(Rules rules) : rules_(rules) {}
  Gate() = default;

  bool open(std::int64_t bytes, std::int64_t packets) {
    bytes = filled_by(bytes);
    if (paused_) {
      if (used_bytes_ > rules_.resume_bytes) return false;
      paused_ = false;
    }
    // A buffer that holds nothing takes any packet: credits are never smaller than one.
    const bool room = used_bytes_ == 0 || used_bytes_ + bytes <= rules_.limit_bytes;
    const bool header = used_packets_ == 0 || rules_.limit_packets == 0 ||
                        used_packets_ + packets <= rules_.limit_packets;
    if (room && header) return true;
    if (rules_.resume_bytes >= 0) {
      paused_ = true;
      ++pauses_;
    }
    return false;
  }
  void sent(std::int64_t bytes, std::int64_t packets) {
    used_bytes_ += filled_by(bytes);
    used_packets_ += packets;
  }
  void returned(std::int64_t bytes, std::int64_t packets) {
    used_bytes_ -= filled_by(bytes);
    used_packets_ -= packets;
  }
  std::int64_t used_bytes() const { return used_bytes_; }
  std::uint64_t pauses() const { return pauses_; }

 private:
  std::int64_t filled_by(std::int64_t bytes) const {
    return rules_.most_at_once > 0 ? std::min(bytes, rules_.most_at_once) : bytes;
  }

  Rules rules_;
  std::int64_t used_bytes_ = 0, used_packets_ = 0;
  std::uint64_t pauses_ = 0;
  bool paused_ = false;
};

}  // namespace isleway::link
