#include "virtual/cudart/test_inputs.hpp"

// Where the processor has wider registers than all of its kind have, they are used.
#if defined(__x86_64__)
#define ISLEWAY_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define ISLEWAY_WIDE
#endif

namespace isleway::vgpu::cudart {
namespace {

ISLEWAY_WIDE void make_summands(std::int32_t* out, std::uint32_t low, std::uint32_t high,
                                std::uint32_t rank, const Steps& given) {
  const Steps steps = given;
  for (std::uint32_t i = 0; i < Steps::kTile; ++i)
    out[i] = static_cast<std::int32_t>(steps.summand(mix(steps.seed, (low + i) ^ high), rank));
}

ISLEWAY_WIDE void make_sums(std::int32_t* out, std::uint32_t low, std::uint32_t high,
                            const Steps& given) {
  const Steps steps = given;
  const std::uint32_t same = steps.ranks + steps.step * (steps.ranks * (steps.ranks - 1) / 2);
  for (std::uint32_t i = 0; i < Steps::kTile; ++i) {
    const std::uint32_t hash = mix(steps.seed, (low + i) ^ high);
    out[i] = static_cast<std::int32_t>(same + steps.ranks * steps.within_step(hash));
  }
}

}  // namespace

void Steps::summands(Tile& out, std::uint32_t low, std::uint32_t high, std::uint32_t rank) const {
  make_summands(out, low, high, rank, *this);
}
void Steps::sums(Tile& out, std::uint32_t low, std::uint32_t high) const {
  make_sums(out, low, high, *this);
}

}  // namespace isleway::vgpu::cudart
