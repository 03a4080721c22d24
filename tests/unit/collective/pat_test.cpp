#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "unit/collective/prove.hpp"

namespace isleway {
namespace {

RC_GTEST_PROP(Pat, IsRightForAnyRanksSizeAndChunking, ()) {
  const CollectiveCall call{*rc::gen::element(Collective::all_gather, Collective::reduce_scatter),
                            {*rc::gen::inRange(0, 2500), *rc::gen::element(1, 2, 4, 8)},
                            *rc::gen::inRange(1, 34),
                            0};
  const std::int64_t chunk = 16 * *rc::gen::inRange(1, 10);
  const auto pat = make_pat(call, *rc::gen::inRange(1, 4), {chunk, chunk});
  RC_ASSERT(pat.has_value());
  RC_ASSERT(problem_with(call, **pat, 1, *rc::gen::inRange(1, 1000)) == std::string());
}

TEST(Pat, TakesTheLogarithmOfTheRanksInHops) {
  const auto hops = [](int ranks) {
    const CollectiveCall call{Collective::all_gather, {16 * ranks, 4}, ranks, 0};
    return (*make_pat(call, 1, {}))->critical_path().size();
  };
  EXPECT_EQ(hops(1), 0U);
  EXPECT_EQ(hops(2), 1U);
  EXPECT_EQ(hops(8), 3U);
  EXPECT_EQ(hops(9), 3U);
  EXPECT_EQ(hops(1000), 9U);
  EXPECT_EQ(hops(1024), 10U);
}

TEST(Pat, EveryRankSendsEveryOtherBlockOnce) {
  const CollectiveCall call{Collective::reduce_scatter, {7 << 20, 4}, 7, 0};
  std::int64_t sent = 0;
  (*make_pat(call, 2, {}))->loads([&](const Load& load) {
    if (load.from.agent == 2 && load.to != load.from) sent += load.bytes;
  });
  EXPECT_EQ(sent, 6 << 20);
}

}  // namespace
}  // namespace isleway
