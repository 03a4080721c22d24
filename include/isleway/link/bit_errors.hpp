// Bits that arrive wrong, by a seeded generator.
#pragma once

#include <cstdint>

namespace isleway::link {

/// Independent errors at a given rate, as a stream over all bits that a link carries: only the
/// gaps between errors are drawn, so that good bits cost nothing.
class BitErrors {
 public:
  /// `rate` from 0 (never) to 1. Links with different `stream` numbers get independent errors.
  BitErrors(double rate, std::uint64_t seed, std::uint64_t stream);
  BitErrors() : BitErrors(0, 0, 0) {}

  /// Lets `bits` pass. Calls `wrong(position)` for each wrong one, ascending, 0 <= position < bits.
  template <class Wrong>
  void pass(std::uint64_t bits, Wrong wrong) {
    std::uint64_t at = 0;
    while (gap_ < bits - at) {
      at += gap_;
      wrong(at);
      ++at;
      draw();
    }
    gap_ -= bits - at;
  }
  bool possible() const { return rate_ > 0; }

 private:
  void draw();
  double rate_;
  std::uint64_t state_ = 0;  ///< of SplitMix64: small, and the same everywhere
  std::uint64_t gap_ = UINT64_MAX;
};

/// Reed-Solomon forward error correction: blocks of `symbols` symbols, of which up to `corrects`
/// wrong ones are put right.
struct Fec {
  int symbols = 0;  ///< 0: none
  int symbol_bits = 10;
  int corrects = 0;
  std::int64_t block_bits() const { return std::int64_t{symbols} * symbol_bits; }
};

}  // namespace isleway::link
