#include "isleway/core/parallel.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace isleway {
namespace {

TEST(ParallelFor, DoesEachPieceOnceOnAnyNumberOfThreads) {
  for (const unsigned threads : {0U, 1U, 3U, 100U}) {
    std::vector<int> done(57, 0);
    parallel_for(
        done.size(), [&](std::size_t i) { done[i] += static_cast<int>(i) + 1; }, threads);
    for (std::size_t i = 0; i < done.size(); ++i) EXPECT_EQ(done[i], static_cast<int>(i) + 1);
  }
}

TEST(ParallelFor, NothingToDoIsFine) {
  parallel_for(0, [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace isleway
