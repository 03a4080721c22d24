// Checksums and flits.
#include "isleway/link/packet.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>

#include "isleway/link/crc.hpp"

namespace isleway::link {
namespace {

constexpr std::size_t kFlitBits = 128;

/// Multiplication and minimal polynomials in GF(2^12), to derive the generator anew.
struct Field {
  static std::uint32_t times(std::uint32_t a, std::uint32_t b) {
    std::uint32_t product = 0;
    for (; b != 0; b >>= 1) {
      if (b & 1) product ^= a;
      a <<= 1;
      if (a >> 12) a ^= 0x1053;  // x^12 + x^6 + x^4 + x + 1
    }
    return product;
  }
  static std::uint32_t evaluate(std::uint32_t polynomial, std::uint32_t at) {
    std::uint32_t value = 0;
    for (int bit = 31; bit >= 0; --bit) value = times(value, at) ^ ((polynomial >> bit) & 1);
    return value;
  }
};

TEST(Crc, HasTheRootsThatGiveDistanceSix) {
  // 1, a, a^2, a^3, a^4 in a field of order 4095: the BCH bound.
  std::uint32_t power = 1;
  for (int i = 0; i <= 4; ++i) {
    EXPECT_EQ(Field::evaluate(kCrcPolynomial, power), 0U) << i;
    power = Field::times(power, 2);
  }
  int order = 1;
  for (std::uint32_t a = 2; a != 1; a = Field::times(a, 2)) ++order;
  EXPECT_EQ(order, 4095);
}

RC_GTEST_PROP(Crc, IsTheSameHoweverItIsCut, ()) {
  const auto bytes =
      *rc::gen::container<std::vector<std::uint8_t>>(40, rc::gen::arbitrary<std::uint8_t>());
  const auto cut = *rc::gen::inRange<std::size_t>(0, 41);
  const std::uint32_t whole = crc25(bytes, 8 * bytes.size());
  const std::uint32_t first = crc25(bytes, 8 * cut);
  RC_ASSERT(crc25(std::span(bytes).subspan(cut), 8 * (bytes.size() - cut), first) == whole);
}

/// A row of packets, closed by an idle header.
std::vector<Flit> framed(const std::vector<Packet>& packets) {
  Framer framer;
  std::vector<Flit> flits;
  for (const Packet& packet : packets) framer.append(packet, flits);
  framer.append(Packet{}, flits);
  return flits;
}

/// All packets, and whether every header was good.
std::pair<std::vector<Packet>, bool> parsed(const std::vector<Flit>& flits) {
  Deframer deframer;
  std::vector<Packet> packets;
  bool good = true;
  for (const Flit& flit : flits) {
    if (deframer.add(flit) == Deframer::Verdict::header_bad) good = false;
    if (auto packet = deframer.take()) packets.push_back(*packet);
  }
  return {packets, good};
}

Packet any_packet() {
  Packet packet;
  packet.kind = *rc::gen::element(Packet::Kind::write, Packet::Kind::read, Packet::Kind::atomic);
  packet.virtual_channel = *rc::gen::inRange<std::uint8_t>(0, 8);
  packet.sequence = *rc::gen::inRange<std::uint16_t>(0, 1 << kSequenceBits);
  packet.ack = *rc::gen::inRange<std::uint16_t>(0, 1 << kSequenceBits);
  packet.nak = *rc::gen::arbitrary<bool>();
  packet.address = *rc::gen::inRange<std::uint64_t>(0, 1ULL << 47);
  if (*rc::gen::arbitrary<bool>()) packet.address_extension = *rc::gen::arbitrary<std::uint64_t>();
  if (*rc::gen::arbitrary<bool>()) packet.byte_enables = *rc::gen::arbitrary<std::uint64_t>();
  packet.data = *rc::gen::container<std::vector<std::uint8_t>>(*rc::gen::inRange(0, 257),
                                                               rc::gen::arbitrary<std::uint8_t>());
  return packet;
}

RC_GTEST_PROP(Flits, ComeBackAsThePacketsThatWereSent, ()) {
  std::vector<Packet> packets;
  const int count = *rc::gen::inRange(1, 5);
  for (int i = 0; i < count; ++i) packets.push_back(any_packet());
  const auto flits = framed(packets);
  int expected = 1;
  for (const Packet& packet : packets) expected += packet.flits();
  RC_ASSERT(static_cast<int>(flits.size()) == expected);
  const auto [back, good] = parsed(flits);
  RC_ASSERT(good);
  RC_ASSERT(back == packets);
}

TEST(Flits, AreCountedAsPublished) {
  Packet packet;
  packet.data.resize(256);
  EXPECT_EQ(packet.flits(), 17);  // 94.1% of the wire
  packet.address_extension = 1;
  packet.byte_enables = 2;
  EXPECT_EQ(packet.flits(), 19);
  packet.data.resize(1);
  EXPECT_EQ(packet.flits(), 4);
}

/// Damage never goes unnoticed: no packet that comes out differs from one that went in.
void expect_noticed(const std::vector<Packet>& packets, const std::vector<Flit>& damaged) {
  const auto [back, good] = parsed(damaged);
  ASSERT_FALSE(good);
  for (std::size_t i = 0; i < std::min(back.size(), packets.size()); ++i)
    ASSERT_EQ(back[i], packets[i]);
}

TEST(Damage, OfUpToFiveBitsIsAlwaysNoticed) {
  std::mt19937 random(1);
  Packet packet;
  packet.kind = Packet::Kind::write;
  packet.data.resize(256);
  for (auto& byte : packet.data) byte = static_cast<std::uint8_t>(random());
  const std::vector<Packet> packets = {packet};
  const auto flits = framed(packets);
  for (int round = 0; round < 3000; ++round) {
    auto damaged = flits;
    // In the data and the header that closes it: one code word.
    const std::size_t first = kFlitBits, bits = (flits.size() - 1) * kFlitBits;
    std::vector<std::size_t> flipped;
    while (flipped.size() < 1 + static_cast<std::size_t>(round) % 5) {
      const std::size_t bit = first + random() % bits;
      if (std::ranges::find(flipped, bit) == flipped.end()) flipped.push_back(bit);
    }
    for (const std::size_t bit : flipped)
      damaged[bit / kFlitBits][bit / 8 % kFlitBytes] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
    expect_noticed(packets, damaged);
  }
}

TEST(Damage, OfABurstOnOneLaneIsAlwaysNoticed) {
  std::mt19937 random(2);
  Packet packet;
  packet.data.assign(256, 0x5a);
  const std::vector<Packet> packets = {packet};
  const auto flits = framed(packets);
  for (const std::size_t lanes : {1U, 2U, 4U, 8U}) {
    for (int round = 0; round < 1000; ++round) {
      auto damaged = flits;
      const std::size_t bits = (flits.size() - 1) * kFlitBits;
      const std::size_t start = random() % (bits - 25 * lanes);
      const std::uint32_t pattern = (static_cast<std::uint32_t>(random()) & 0x1ffffff) | 1;
      for (std::size_t i = 0; i < 25; ++i) {
        if (!((pattern >> i) & 1)) continue;
        const std::size_t bit = kFlitBits + start + i * lanes;
        damaged[bit / kFlitBits][bit / 8 % kFlitBytes] ^=
            static_cast<std::uint8_t>(0x80 >> bit % 8);
      }
      expect_noticed(packets, damaged);
    }
  }
}

TEST(Damage, CanBeMadeThatNoChecksumFinds) {
  // The generator itself, added to a code word, is a code word: the check would be no check if
  // this were noticed.
  Packet packet;
  packet.data.resize(256);
  auto flits = framed({packet});
  for (std::size_t i = 0; i <= 25; ++i) {
    if (!((kCrcPolynomial >> (25 - i)) & 1)) continue;
    const std::size_t bit = 3 * kFlitBits + i;
    flits[bit / kFlitBits][bit / 8 % kFlitBytes] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
  }
  EXPECT_TRUE(parsed(flits).second);
}

}  // namespace
}  // namespace isleway::link
