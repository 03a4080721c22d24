#include "isleway/link/packet.hpp"

#include <cassert>

#include "isleway/link/crc.hpp"

namespace isleway::link {
namespace {

constexpr int kFlitBits = 8 * kFlitBytes;
constexpr int kLengthBits = 5, kKindBits = 4, kChannelBits = 3, kAddressBits = 47;
// Not used: data link header 20 - 5 - 1 - 1 - 1 - 12 = 0, transaction 83 - 4 - 3 - 12 - 47 - 4.
constexpr int kPartialBits = 4, kReservedBits = 13;
static_assert(kLengthBits + 3 + kSequenceBits == 20);
static_assert(kKindBits + kChannelBits + kSequenceBits + kAddressBits + kPartialBits +
                  kReservedBits ==
              83);

/// Numbers of any width, one after the other, most significant bit first.
class BitWriter {
 public:
  explicit BitWriter(Flit& flit) : flit_(flit) {}
  void put(std::uint64_t value, int bits) {
    for (int i = bits - 1; i >= 0; --i, ++at_)
      if ((value >> i) & 1) flit_[at_ / 8] |= static_cast<std::uint8_t>(0x80 >> (at_ % 8));
  }

 private:
  Flit& flit_;
  std::size_t at_ = 0;
};

class BitReader {
 public:
  explicit BitReader(const Flit& flit) : flit_(flit) {}
  std::uint64_t get(int bits) {
    std::uint64_t value = 0;
    for (int i = 0; i < bits; ++i, ++at_)
      value = value << 1 | ((flit_[at_ / 8] >> (7 - at_ % 8)) & 1);
    return value;
  }

 private:
  const Flit& flit_;
  std::size_t at_ = 0;
};

Flit header_flit(const Packet& packet) {
  Flit flit{};
  BitWriter bits(flit);
  bits.put(static_cast<std::uint64_t>(packet.data_flits()), kLengthBits);
  bits.put(packet.address_extension ? 1 : 0, 1);
  bits.put(packet.byte_enables ? 1 : 0, 1);
  bits.put(packet.nak ? 1 : 0, 1);
  bits.put(packet.ack, kSequenceBits);
  bits.put(static_cast<std::uint64_t>(packet.kind), kKindBits);
  bits.put(packet.virtual_channel, kChannelBits);
  bits.put(packet.sequence, kSequenceBits);
  bits.put(packet.address, kAddressBits);
  // Bytes of the last data flit that count, less one.
  bits.put((packet.data.size() + kFlitBytes - 1) % kFlitBytes, kPartialBits);
  return flit;
}

/// `extensions` gets which follow; data has the right size and is still to be filled.
Packet parse_header(const Flit& flit, int& extensions) {
  BitReader bits(flit);
  Packet packet;
  const auto data_flits = bits.get(kLengthBits);
  const bool address_extension = bits.get(1), byte_enables = bits.get(1);
  packet.nak = bits.get(1);
  packet.ack = static_cast<std::uint16_t>(bits.get(kSequenceBits));
  packet.kind = static_cast<Packet::Kind>(bits.get(kKindBits));
  packet.virtual_channel = static_cast<std::uint8_t>(bits.get(kChannelBits));
  packet.sequence = static_cast<std::uint16_t>(bits.get(kSequenceBits));
  packet.address = bits.get(kAddressBits);
  const auto last = bits.get(kPartialBits) + 1;
  if (data_flits > 0) packet.data.resize((data_flits - 1) * kFlitBytes + last);
  if (address_extension) packet.address_extension = 0;
  if (byte_enables) packet.byte_enables = 0;
  extensions = packet.extension_flits();
  return packet;
}

Flit extension_flit(std::uint64_t value) {
  Flit flit{};
  BitWriter(flit).put(value, 64);
  return flit;
}

}  // namespace

void Framer::append(const Packet& packet, std::vector<Flit>& out) {
  assert(packet.data_flits() <= kMostDataFlits);
  Flit header = header_flit(packet);
  const std::uint32_t crc = crc25(header, kFlitBits - kCrcBits, since_header_);
  for (int i = 0; i < kCrcBits; ++i)
    if ((crc >> i) & 1)
      header[static_cast<std::size_t>(kFlitBytes - 1 - i / 8)] |=
          static_cast<std::uint8_t>(1 << (i % 8));
  out.push_back(header);

  since_header_ = 0;
  const auto follow = [&](const Flit& flit) {
    since_header_ = crc25(flit, kFlitBits, since_header_);
    out.push_back(flit);
  };
  if (packet.address_extension) follow(extension_flit(*packet.address_extension));
  if (packet.byte_enables) follow(extension_flit(*packet.byte_enables));
  for (std::size_t at = 0; at < packet.data.size(); at += kFlitBytes) {
    Flit flit{};
    for (std::size_t i = 0; i < kFlitBytes && at + i < packet.data.size(); ++i)
      flit[i] = packet.data[at + i];
    follow(flit);
  }
}

Deframer::Verdict Deframer::add(const Flit& flit) {
  if (left_ == 0) {
    const bool good = crc25(flit, kFlitBits, since_header_) == 0;
    since_header_ = 0;
    closed_.reset();
    if (!good) {
      open_.reset();
      return Verdict::header_bad;
    }
    closed_ = std::move(open_);
    open_ = parse_header(flit, extensions_left_);
    left_ = open_->flits() - 1;
    return Verdict::header_good;
  }
  since_header_ = crc25(flit, kFlitBits, since_header_);
  if (extensions_left_ > 0) {
    const std::uint64_t value = BitReader(flit).get(64);
    const bool is_address =
        open_->address_extension && extensions_left_ == open_->extension_flits();
    (is_address ? open_->address_extension : open_->byte_enables) = value;
    --extensions_left_;
  } else {
    const std::size_t at = static_cast<std::size_t>(open_->data_flits() - left_) * kFlitBytes;
    for (std::size_t i = 0; i < kFlitBytes && at + i < open_->data.size(); ++i)
      open_->data[at + i] = flit[i];
  }
  --left_;
  return Verdict::more;
}

std::optional<Packet> Deframer::take() {
  std::optional<Packet> packet = std::move(closed_);
  closed_.reset();
  return packet;
}

void Deframer::restart() { *this = Deframer(); }

}  // namespace isleway::link
