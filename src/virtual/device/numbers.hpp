// The element types that GPUs reduce and C++ lacks: 16-bit and 8-bit floating point.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace isleway::vgpu {

/// IEEE-like: a sign, `ExponentBits`, `MantissaBits`. `Finite`: no infinities, and only the
/// largest pattern is not a number (OCP's E4M3); what is too large becomes the largest number.
template <class Bits, int ExponentBits, int MantissaBits, bool Finite = false>
struct SmallFloat {
  static constexpr int kMantissaBits = MantissaBits;
  static constexpr int kBias = (1 << (ExponentBits - 1)) - 1;
  static constexpr int kTop = (1 << ExponentBits) - 1;

  Bits bits = 0;

  SmallFloat() = default;
  explicit SmallFloat(float value) : bits(from_float(value)) {}
  explicit operator float() const { return to_float(); }

 private:
  float to_float() const {
    const int sign = bits >> (ExponentBits + MantissaBits) & 1;
    const int exponent = bits >> MantissaBits & kTop;
    const int mantissa = bits & ((1 << MantissaBits) - 1);
    const bool nan = Finite ? exponent == kTop && mantissa == (1 << MantissaBits) - 1
                            : exponent == kTop && mantissa != 0;
    if (nan) return std::numeric_limits<float>::quiet_NaN();
    float value;
    if (!Finite && exponent == kTop) {
      value = std::numeric_limits<float>::infinity();
    } else if (exponent == 0) {
      value = std::ldexp(static_cast<float>(mantissa), 1 - kBias - MantissaBits);
    } else {
      value = std::bit_cast<float>(static_cast<std::uint32_t>(exponent - kBias + 127) << 23 |
                                   static_cast<std::uint32_t>(mantissa) << (23 - MantissaBits));
    }
    return sign != 0 ? -value : value;
  }

  /// To the nearest, ties to even.
  static Bits from_float(float value) {
    const auto raw = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint32_t>(raw >> 31 << (ExponentBits + MantissaBits));
    const std::uint32_t magnitude = raw & 0x7fffffff;
    constexpr std::uint32_t nan = Finite ? (1u << (ExponentBits + MantissaBits)) - 1
                                         : (std::uint32_t{kTop} << MantissaBits) + 1;
    constexpr std::uint32_t infinity = std::uint32_t{kTop} << MantissaBits;
    constexpr std::uint32_t largest = Finite ? nan - 1 : infinity;
    if (magnitude > 0x7f800000) return static_cast<Bits>(sign | nan);
    const int exponent = static_cast<int>(magnitude >> 23) - 127 + kBias;
    std::uint32_t rounded;
    if (exponent >= 1) {
      if constexpr (MantissaBits == 23) {
        rounded = magnitude;
      } else {
        constexpr int drop = 23 - MantissaBits;
        const std::uint32_t shifted = magnitude - (static_cast<std::uint32_t>(127 - kBias) << 23);
        rounded = (shifted + (1u << (drop - 1)) - 1 + (shifted >> drop & 1)) >> drop;
      }
      if (exponent > kTop) rounded = largest;
    } else {
      const float scaled = std::ldexp(std::bit_cast<float>(magnitude), kBias - 1 + MantissaBits);
      rounded = static_cast<std::uint32_t>(std::nearbyint(scaled));
    }
    return static_cast<Bits>(sign | (rounded > largest ? largest : rounded));
  }
};

using Half = SmallFloat<std::uint16_t, 5, 10>;
using BFloat16 = SmallFloat<std::uint16_t, 8, 7>;
using Float8E4M3 = SmallFloat<std::uint8_t, 4, 3, true>;
using Float8E5M2 = SmallFloat<std::uint8_t, 5, 2>;

template <class T>
inline constexpr bool kIsSmallFloat = false;
template <class Bits, int E, int M, bool F>
inline constexpr bool kIsSmallFloat<SmallFloat<Bits, E, M, F>> = true;

/// What sums are computed in before they are rounded to T.
template <class T>
auto widen(T value) {
  if constexpr (kIsSmallFloat<T>) return static_cast<float>(value);
  else return value;
}
template <class T, class Wide>
T narrow(Wide value) {
  if constexpr (kIsSmallFloat<T>) return T(static_cast<float>(value));
  else return static_cast<T>(value);
}

}  // namespace isleway::vgpu
