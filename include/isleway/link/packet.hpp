// NVLink packets as flits of 16 bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace isleway::link {

inline constexpr int kFlitBytes = 16;
inline constexpr int kMostDataFlits = 16;
inline constexpr int kSequenceBits = 12;

using Flit = std::array<std::uint8_t, kFlitBytes>;

/// Widths are as published for NVLink 1 (25 bits of checksum, 83 of transaction, 20 of data link
/// header); which bit means what inside them is not, and is this program's own.
struct Packet {
  enum class Kind : std::uint8_t { idle, write, read, response, atomic, reduction };
  Kind kind = Kind::idle;
  std::uint8_t virtual_channel = 0;                ///< 0 to 7
  std::uint16_t sequence = 0;                      ///< modulo 2^12
  std::uint64_t address = 0;                       ///< 47 bits
  bool nak = false;                                ///< `ack` names the packet to replay from
  std::uint16_t ack = 0;                           ///< all packets before this one have arrived
  std::optional<std::uint64_t> address_extension;  ///< one more flit
  std::optional<std::uint64_t> byte_enables;       ///< one more flit
  std::vector<std::uint8_t> data;                  ///< up to 256 bytes

  int data_flits() const { return (static_cast<int>(data.size()) + kFlitBytes - 1) / kFlitBytes; }
  int extension_flits() const { return (address_extension ? 1 : 0) + (byte_enables ? 1 : 0); }
  /// Header, extensions and data.
  int flits() const { return 1 + extension_flits() + data_flits(); }
  friend bool operator==(const Packet&, const Packet&) = default;
};

/// Turns packets into flits. A header's checksum covers what came since the header before it
/// (its packet's extensions and data) and the header itself, so that a header can be sent before
/// its data is known; the last packet of a row is covered by the idle header that follows.
class Framer {
 public:
  /// The packet must hold at most 256 bytes.
  void append(const Packet& packet, std::vector<Flit>& out);

 private:
  std::uint32_t since_header_ = 0;
};

/// The reverse. Feed flits in order.
class Deframer {
 public:
  enum class Verdict : std::uint8_t { more, header_good, header_bad };
  /// header_good: the packet before this header, if there was one, is whole and right, and may
  /// be taken. header_bad: that packet or this header is damaged; nothing is known of what
  /// follows until restart().
  Verdict add(const Flit& flit);
  /// The packet that the last good header closed; none before the first.
  std::optional<Packet> take();
  /// A header was bad: the next flit given is a header.
  void restart();

 private:
  std::optional<Packet> open_, closed_;
  int left_ = 0;  ///< flits of the open packet that are still to come
  int extensions_left_ = 0;
  std::uint32_t since_header_ = 0;
};

}  // namespace isleway::link
