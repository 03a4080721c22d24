// Source: https://github.com/NVIDIA/nccl, src/graph/search.cc at the release tags.
#include <array>

#include "nccl/search.hpp"

namespace isleway::nccl {
namespace {

constexpr float kIntra[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr float kInter[] = {48, 30, 28, 24, 20, 18,   15,   12,   10,  9,
                            7,  6,  5,  4,  3,  2.4F, 1.2F, .24F, .12F};

constexpr float kIntra90_218[] = {60, 40, 30, 24, 20, 15, 12, 6, 3};
constexpr float kIntra90_219[] = {60, 50, 40, 30, 24, 20, 15, 12, 6, 3};
constexpr float kIntra90[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
constexpr float kInter90_218[] = {48, 45, 42, 40, 30,   24,   20,   17.5F,
                                  15, 12, 6,  3,  2.4F, 1.2F, .24F, .12F};
constexpr float kInter90[] = {48, 45, 42, 40, 30,   24,   22,   20,  17.5F,
                              15, 12, 6,  3,  2.4F, 1.2F, .24F, .12F};

constexpr float kIntra100_225[] = {90, 80, 70, 60, 50, 40, 30, 24, 20, 19};
constexpr float kIntra100_227[] = {90, 80, 70, 60, 50, 40, 30, 24, 20, 19, 18};
constexpr float kIntra100_229[] = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
constexpr float kInter100_225[] = {48, 45, 42, 40, 30,   24,   22,   20,  17.5F,
                                   15, 12, 6,  3,  2.4F, 1.2F, .24F, .12F};
constexpr float kInter100_227[] = {96,    48, 45.1F, 42, 40, 30,   24,   22,   20,
                                   17.5F, 15, 12,    6,  3,  2.4F, 1.2F, .24F, .12F};
constexpr float kInter100_229[] = {96,    80, 48, 45.1F, 42, 40,   30,   24,   22,  20,
                                   17.5F, 15, 12, 6,     3,  2.4F, 1.2F, .24F, .12F};
constexpr float kInter100_230[] = {96, 86,    80, 48, 45.1F, 42, 40,   30,   24,   22,
                                   20, 17.5F, 15, 12, 6,     3,  2.4F, 1.2F, .24F, .12F};

std::span<const float> hopper(bool inter, Version version) {
  if (version < release(2, 19)) return inter ? std::span<const float>(kInter90_218) : kIntra90_218;
  if (inter) return kInter90;
  return version < release(2, 21) ? std::span<const float>(kIntra90_219) : kIntra90;
}

std::span<const float> blackwell(bool inter, Version version) {
  if (inter) {
    if (version < release(2, 27)) return kInter100_225;
    if (version < release(2, 29)) return kInter100_227;
    return version < release(2, 30) ? std::span<const float>(kInter100_229) : kInter100_230;
  }
  if (version < release(2, 27)) return kIntra100_225;
  return version < release(2, 29) ? std::span<const float>(kIntra100_227) : kIntra100_229;
}

}  // namespace

std::span<const float> candidate_speeds(int sm, bool inter, Version version) {
  if (sm >= 100 && version >= release(2, 25)) return blackwell(inter, version);
  if (sm >= 90) return hopper(inter, version);
  return inter ? std::span<const float>(kInter) : kIntra;
}

int most_channels(Version version) { return version >= release(2, 25) ? 64 : 32; }
int most_nvls_heads(Version version) { return version >= release(2, 21) ? 32 : 8; }

}  // namespace isleway::nccl
