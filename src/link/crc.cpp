#include "isleway/link/crc.hpp"

#include <array>

namespace isleway::link {
namespace {

constexpr std::uint32_t kTopBit = 1U << (kCrcBits - 1);
constexpr std::uint32_t kMask = (1U << kCrcBits) - 1;

constexpr std::uint32_t shift_in(std::uint32_t crc, bool bit) {
  const bool carry = ((crc & kTopBit) != 0) != bit;
  crc = (crc << 1) & kMask;
  return carry ? crc ^ (kCrcPolynomial & kMask) : crc;
}

constexpr std::array<std::uint32_t, 256> kTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte << (kCrcBits - 8);
    for (int i = 0; i < 8; ++i) crc = shift_in(crc, false);
    table[byte] = crc;
  }
  return table;
}();

}  // namespace

std::uint32_t crc25(std::span<const std::uint8_t> bytes, std::size_t bits, std::uint32_t crc) {
  const std::size_t whole = bits / 8;
  for (std::size_t i = 0; i < whole; ++i)
    crc = ((crc << 8) & kMask) ^ kTable[((crc >> (kCrcBits - 8)) ^ bytes[i]) & 0xff];
  for (std::size_t bit = 0; bit < bits % 8; ++bit)
    crc = shift_in(crc, (bytes[whole] >> (7 - bit)) & 1);
  return crc;
}

}  // namespace isleway::link
