// The 25-bit checksum of an NVLink packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace isleway::link {

inline constexpr int kCrcBits = 25;

/// (x+1) m1(x) m3(x) over GF(2^12) with x^12+x^6+x^4+x+1: an extended BCH code.
///
/// What is published of NVLink's checksum is its width and what it detects: up to 5 wrong bits
/// anywhere, and a burst of up to 25 on one lane (Pascal whitepaper; Hot Chips 28). The
/// polynomial is not. This one has the same strength, provably, up to 4095 bits: consecutive
/// roots 1, a, a^2, a^3, a^4 give distance 6, and as it has no square factor, it divides no
/// e(x^lanes) = e(x)^lanes of a shorter e, lanes being a power of two.
inline constexpr std::uint32_t kCrcPolynomial = 0x3c260a7;

/// Remainder of the first `bits` bits (most significant first), continuing from `crc`. The
/// remainder of a text followed by its own 25 bits is 0.
std::uint32_t crc25(std::span<const std::uint8_t> bytes, std::size_t bits, std::uint32_t crc = 0);

}  // namespace isleway::link
