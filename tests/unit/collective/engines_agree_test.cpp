// The closed form against the event-driven engine, on real algorithms over random machines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "isleway/collective.hpp"
#include "unit/engine/fakes.hpp"

namespace isleway {
namespace {

using testing::run;
using testing::star;
using testing::StarWiring;

struct Case {
  CollectiveCall call;
  int channels = 1;
  Chunking chunking;
  Connection price;
  Rate rate;  ///< of each GPU's link to the switch
};

/// Sizes between two powers of two; prices as NCCL's protocols have them, and beyond.
Case any_case(std::mt19937& random, int least_log2, int most_log2) {
  const auto whole = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const auto real = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Case c;
  c.call.ranks = whole(2, 8);
  c.channels = whole(1, 6);
  c.call.size.bytes = static_cast<std::int64_t>(std::exp2(real(least_log2, most_log2)));
  c.chunking.slice_bytes = std::int64_t{1} << whole(15, 19);
  c.chunking.chunk_bytes = whole(1, 2) * c.chunking.slice_bytes;
  c.price.latency = Time::ns(real(200, 3000));
  c.price.overhead = Time::ns(real(0, 800));
  c.price.wire_expansion = std::array{1.0, 1.067, 2.0}[static_cast<std::size_t>(whole(0, 2))];
  if (whole(0, 1) == 0) c.price.cap = Rate::GBs(real(5, 80));
  c.rate = Rate::GBs(real(10, 500));
  return c;
}

std::unique_ptr<Schedule> ring(const Case& c) {
  return make_simple_ring(c.call, c.channels, c.chunking).value();
}

std::unique_ptr<Schedule> tree(const Case& c) {
  std::vector<TreeShape> trees;
  for (int i = 0; i < c.channels; ++i)
    trees.push_back(i % 2 == 0 ? binary_tree(c.call.ranks) : mirrored_binary_tree(c.call.ranks));
  return make_tree(c.call, trees, c.chunking).value();
}

std::unique_ptr<Schedule> nvls(const Case& c) {
  std::vector<int> island(static_cast<std::size_t>(c.call.ranks));
  std::iota(island.begin(), island.end(), 0);
  return make_nvls(c.call, c.channels, {island}, c.call.ranks, c.chunking).value();
}

std::unique_ptr<Schedule> all_to_all(const Case& c) {
  CollectiveCall call = c.call;
  call.collective = Collective::all_to_all;
  const int channels = c.channels < 2 ? 1 : c.channels < 4 ? 2 : 4;
  return make_point_to_point(call, channels, channels, call.ranks, c.chunking).value();
}

/// Closed form over simulation, less 1: the middle, what nine of ten are within, the worst.
struct Differences {
  double median = 0, nine_of_ten = 0, worst = 0;
};

Differences differences(std::unique_ptr<Schedule> (*algorithm)(const Case&), int least_log2,
                        int most_log2) {
  std::mt19937 random(20);
  std::vector<double> signed_, all;
  for (int i = 0; i < 60; ++i) {
    const Case c = any_case(random, least_log2, most_log2);
    const auto schedule = algorithm(c);
    const Fabric fabric = star(c.call.ranks, c.rate);
    const StarWiring wiring(c.call.ranks, c.price);
    const double closed = run(*make_analytic_engine(), fabric, *schedule, wiring).time.us();
    const double simulated = run(*make_flow_engine(), fabric, *schedule, wiring).time.us();
    signed_.push_back(closed / simulated - 1);
    all.push_back(std::abs(signed_.back()));
  }
  std::ranges::sort(signed_);
  std::ranges::sort(all);
  return {signed_[signed_.size() / 2], all[all.size() * 9 / 10], all.back()};
}

constexpr int kSmall[] = {6, 16}, kLarge[] = {26, 27};  // 64 bytes to 64 KiB; 64 to 128 MiB

void expect(const Differences& found, const Differences& bound) {
  EXPECT_LE(std::abs(found.median), bound.median);
  EXPECT_LE(found.nine_of_ten, bound.nine_of_ten);
  EXPECT_LE(found.worst, bound.worst);
}

TEST(EnginesAgree, OnRings) {
  expect(differences(ring, kLarge[0], kLarge[1]), {0.01, 0.06, 0.15});
  expect(differences(ring, kSmall[0], kSmall[1]), {0.001, 0.04, 0.12});
}

TEST(EnginesAgree, OnTrees) {
  expect(differences(tree, kLarge[0], kLarge[1]), {0.03, 0.13, 0.30});
  expect(differences(tree, kSmall[0], kSmall[1]), {0.01, 0.10, 0.35});
}

TEST(EnginesAgree, OnInSwitchReduction) {
  expect(differences(nvls, kLarge[0], kLarge[1]), {0.06, 0.21, 0.45});
  expect(differences(nvls, kSmall[0], kSmall[1]), {0.10, 0.22, 0.45});
}

TEST(EnginesAgree, OnAllToAll) {
  expect(differences(all_to_all, kLarge[0], kLarge[1]), {0.001, 0.005, 0.02});
  expect(differences(all_to_all, kSmall[0], kSmall[1]), {0.001, 0.02, 0.05});
}

}  // namespace
}  // namespace isleway
