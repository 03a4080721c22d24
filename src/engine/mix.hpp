// Numbers that stand for what something is made of.
#pragma once

#include <bit>
#include <cstdint>

namespace isleway {

/// A number for a pair. The step is that of the generator SplitMix64 (Steele, Lea and Flood,
/// "Fast Splittable Pseudorandom Number Generators", 2014): unequal pairs give equal numbers
/// about as often as chance has it.
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
constexpr std::uint64_t mix_real(std::uint64_t a, double b) {
  return mix(a, std::bit_cast<std::uint64_t>(b));
}

}  // namespace isleway
