#include "engine/packet/wire_errors.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace isleway {
namespace {

// In a row, without any packet getting through.
constexpr int kMostRecoveries = 100;
// Packets that are looked at together.
constexpr std::int64_t kLeastWindow = 8;

/// Bits of one packet that arrive wrong, seen as NVLink's checksum sees them.
class Damage {
 public:
  Damage(std::int64_t packet_bits, int header_bits)
      : packet_bits_(packet_bits), header_bits_(header_bits) {}

  /// Position in the packet, header first.
  void add(std::int64_t bit) {
    (bit < header_bits_ ? in_header_ : in_data_) = true;
    // A header closes the code word of the data before it: it comes last.
    const std::int64_t place =
        bit < header_bits_ ? packet_bits_ - header_bits_ + bit : bit - header_bits_;
    pattern_[static_cast<std::size_t>(place / 8) % pattern_.size()] ^=
        static_cast<std::uint8_t>(0x80 >> (place % 8));
  }
  bool any() const { return in_header_ || in_data_; }
  bool in_header() const { return in_header_; }
  /// A checksum is linear: the pattern alone decides.
  bool detected() const {
    return link::crc25(pattern_, static_cast<std::size_t>(packet_bits_)) != 0;
  }

 private:
  std::int64_t packet_bits_;
  int header_bits_;
  bool in_header_ = false, in_data_ = false;
  // The largest packet: a header, two more flits, 16 flits of data.
  std::array<std::uint8_t, 19 * 16> pattern_{};
};

/// Wrong bits of a row of packets, after forward error correction.
class Wire {
 public:
  Wire(CablePort& port, const link::Fec& fec) : port_(port), fec_(fec) {}

  /// Positions (ascending) of bits among the next `bits` that stay wrong.
  const std::vector<std::int64_t>& pass(std::int64_t bits) {
    wrong_.clear();
    port_.errors.pass(static_cast<std::uint64_t>(bits), [&](std::uint64_t bit) {
      ++port_.counters.symbol_errors;
      wrong_.push_back(static_cast<std::int64_t>(bit));
    });
    if (port_.fec) correct();
    port_.counters.effective_errors += wrong_.size();
    port_.counters.received_bits += static_cast<std::uint64_t>(bits);
    return wrong_;
  }

 private:
  /// Drops the wrong bits of blocks with few wrong symbols.
  void correct() {
    std::size_t kept = 0;
    for (std::size_t first = 0; first < wrong_.size();) {
      const std::int64_t block = wrong_[first] / fec_.block_bits();
      std::size_t end = first;
      std::int64_t symbol = -1;
      int symbols = 0;
      for (; end < wrong_.size() && wrong_[end] / fec_.block_bits() == block; ++end) {
        if (wrong_[end] / fec_.symbol_bits != symbol) ++symbols;
        symbol = wrong_[end] / fec_.symbol_bits;
      }
      for (; first < end; ++first)
        if (symbols > fec_.corrects) wrong_[kept++] = wrong_[first];
    }
    wrong_.resize(kept);
  }

  CablePort& port_;
  const link::Fec& fec_;
  std::vector<std::int64_t> wrong_;
};

}  // namespace

std::optional<std::int64_t> damage_time(CablePort& port, const link::Framing& framing,
                                        double ps_per_byte, std::int64_t bytes,
                                        const link::Rules& rules) {
  Wire wire(port, rules.fec);
  const std::int64_t packet_bits = framing.wire_bytes_of_full() * 8;
  const int header_bits = framing.header * 8;
  // The sender hears of damage a round trip later; what it sent meanwhile was in vain.
  const double round_trip = 2 * static_cast<double>(port.latency);
  const double packet_time = static_cast<double>(packet_bits) / 8 * ps_per_byte;
  const std::int64_t window =
      packet_bits * std::max(kLeastWindow, 1 + static_cast<std::int64_t>(round_trip / packet_time));
  std::int64_t left = framing.wire_bytes(bytes) * 8, lost = 0;
  int attempts = 0, recoveries = 0;
  while (left > 0) {
    const std::int64_t sent = std::min(left, window);
    const std::vector<std::int64_t>& wrong = wire.pass(sent);
    std::int64_t damaged = -1;  // the first packet that the receiver drops
    for (std::size_t i = 0; i < wrong.size() && damaged < 0;) {
      const std::int64_t packet = wrong[i] / packet_bits;
      Damage damage(std::min(packet_bits, left - packet * packet_bits), header_bits);
      for (; i < wrong.size() && wrong[i] / packet_bits == packet; ++i)
        damage.add(wrong[i] % packet_bits);
      if (!damage.detected()) {
        ++port.counters.undetected_errors;
        continue;
      }
      damaged = packet;
      ++(damage.in_header() ? port.counters.crc_flit_errors : port.counters.crc_data_errors);
    }
    if (damaged < 0) {
      left -= sent;
      attempts = recoveries = 0;
      continue;
    }
    attempts = damaged > 0 ? 1 : attempts + 1;
    if (damaged > 0) recoveries = 0;
    ++port.counters.replays;
    left -= damaged * packet_bits;
    const std::int64_t packet = std::min(packet_bits, left) / 8;
    port.counters.raw_bytes += static_cast<std::uint64_t>(std::min(window, left) / 8);
    lost += static_cast<std::int64_t>(
        std::llround(round_trip + static_cast<double>(packet) * ps_per_byte));
    if (attempts < rules.replay_attempts) continue;
    attempts = 0;
    ++port.counters.recoveries;
    lost += rules.recovery.ps();
    if (++recoveries > kMostRecoveries) return std::nullopt;
  }
  return lost;
}

}  // namespace isleway
