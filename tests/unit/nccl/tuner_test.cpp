// The tuning model against what NCCL 2.28.9 computes for the same graphs.
#include "nccl/tuner.hpp"

#include <gtest/gtest.h>

#include "nccl/plan.hpp"

namespace isleway::nccl {
namespace {

Graph graph(int pattern, int channels, double intra, double inter, bool same = true) {
  Graph g;
  g.pattern = pattern;
  g.channels = channels;
  g.bw_intra = intra;
  g.bw_inter = inter;
  g.type_intra = PathKind::nvl;
  g.type_inter = PathKind::pix;
  g.same_channels = same;
  return g;
}

TunerInput hopper(int nodes) {
  TunerInput in;
  in.ranks = 8 * nodes;
  in.nodes = nodes;
  in.min_sm = in.max_sm = 90;
  in.nvls_supported = true;
  in.nvls_channels = 16;
  in.collnet_refused = "CollNet is off";
  if (nodes == 1) {
    in.ring = graph(ring_pattern, 12, 30, 30);
    in.tree = graph(balanced_tree, 12, 30, 30);
    in.nvls = graph(nvls_pattern, 8, 40, 60);
    in.channels = 24;
  } else {
    in.ring = graph(ring_pattern, 8, 48, 48, false);
    in.tree = graph(plain_tree, 8, 48, 48, false);
    in.nvls = graph(nvls_pattern, 8, 40, 48);
    in.channels = 16;
  }
  return in;
}

Settings defaults(Version version = {}) { return *Settings::parse({}, version); }

TEST(Tuner, PricesOneHopperNode) {
  const Tuner tuner(hopper(1), defaults());
  const auto check = [&](Algorithm a, Protocol p, double latency, double bandwidth) {
    const Price& price = tuner.price(Collective::all_reduce, a, p);
    EXPECT_NEAR(price.latency, latency, 1e-6) << name_of(a) << ' ' << name_of(p);
    EXPECT_NEAR(price.bandwidth, bandwidth, 1e-3) << name_of(a) << ' ' << name_of(p);
  };
  check(Algorithm::tree, Protocol::ll, 15.2, 43.5789);
  check(Algorithm::tree, Protocol::ll128, 31.5, 128.8);
  check(Algorithm::tree, Protocol::simple, 64.4, 165.6);
  check(Algorithm::ring, Protocol::ll, 15.0, 80.5714);
  check(Algorithm::ring, Protocol::ll128, 40.6, 189.2571);
  check(Algorithm::ring, Protocol::simple, 56.0, 205.7143);
  check(Algorithm::nvls, Protocol::simple, 25.0, 272.0);
  EXPECT_FALSE(
      tuner.price(Collective::all_reduce, Algorithm::nvls_tree, Protocol::simple).available());
}

TEST(Tuner, ChoosesByNodesAndSize) {
  const Tuner one(hopper(1), defaults()), four(hopper(4), defaults());
  const auto choice = [](const Tuner& tuner, std::int64_t bytes) {
    const auto best = tuner.choose(Collective::all_reduce, bytes);
    return std::string(name_of(best->algorithm)) + '/' + name_of(best->protocol);
  };
  EXPECT_EQ(choice(one, 8), "RING/LL");
  EXPECT_EQ(choice(one, 2 << 20), "NVLS/SIMPLE");
  EXPECT_EQ(choice(four, 141736), "TREE/LL");
  EXPECT_EQ(choice(four, 141740), "TREE/LL128");
  EXPECT_EQ(choice(four, 5860212), "TREE/LL128");
  EXPECT_EQ(choice(four, 5860216), "NVLS_TREE/SIMPLE");
  // Here the two lines cross at so small an angle that NCCL's single precision shows: it
  // changes over at 1036395300, exact arithmetic 3 parts in a million later.
  EXPECT_EQ(choice(four, 1036390000), "NVLS_TREE/SIMPLE");
  EXPECT_EQ(choice(four, 1036405000), "RING/SIMPLE");

  TunerInput reducing = hopper(4);  // the network reduces as well
  reducing.collnet_refused.clear();
  EXPECT_EQ(choice(Tuner(reducing, defaults()), 1 << 30), "NVLS/SIMPLE");
}

TEST(Tuner, SaysWhyNot) {
  TunerInput ampere = hopper(1);
  ampere.min_sm = ampere.max_sm = 80;
  const Tuner tuner(ampere, defaults());
  const auto& nvls = tuner.price(Collective::all_reduce, Algorithm::nvls, Protocol::simple);
  EXPECT_NE(nvls.why_not.find("Hopper"), std::string::npos) << nvls.why_not;
  EXPECT_FALSE(tuner.choose(Collective::all_reduce, 1 << 20, Algorithm::nvls));

  TunerInput pcie = hopper(1);
  pcie.ring.type_intra = PathKind::sys;
  const Tuner over_pcie(pcie, defaults());
  const auto& ll128 = over_pcie.price(Collective::all_reduce, Algorithm::ring, Protocol::ll128);
  EXPECT_NE(ll128.why_not.find("NVLink"), std::string::npos) << ll128.why_not;
}

TEST(Tuner, ReleasesDiffer) {
  // 2.27 took NVLS for what its graph says, x 5/6.
  const Tuner before(hopper(1), defaults({2, 27, 7}));
  EXPECT_NEAR(before.price(Collective::all_reduce, Algorithm::nvls, Protocol::simple).bandwidth,
              8 * 40 * 5 / 6.0, 1e-6);
  // Until 2.22 a tree's Simple latency was 28 us a hop.
  const Tuner old(hopper(1), defaults({2, 20, 5}));
  EXPECT_NEAR(old.price(Collective::all_reduce, Algorithm::tree, Protocol::simple).latency,
              2 * 7 * 28.0, 1e-6);
  EXPECT_FALSE(Tuner(hopper(1), defaults({2, 18, 6}))
                   .price(Collective::all_gather, Algorithm::pat, Protocol::simple)
                   .available());
}

TEST(Plan, NarrowsSmallCallsAndCutsLargeOnes) {
  const TunerInput in = hopper(1);
  const auto plan = [&](Collective c, Algorithm a, Protocol p, std::int64_t bytes) {
    return plan_launch(in, defaults(), c, a, p, bytes);
  };
  const auto tiny = plan(Collective::all_reduce, Algorithm::ring, Protocol::ll, 8);
  EXPECT_EQ(tiny.channels, 1);
  EXPECT_EQ(tiny.threads, 96);
  const auto gather = plan(Collective::all_gather, Algorithm::ring, Protocol::ll, 131072);
  EXPECT_EQ(gather.channels, 4);
  // The work comes in cells, so two of 24 channels get none.
  const auto cells = plan(Collective::broadcast, Algorithm::ring, Protocol::simple, 2 << 20);
  EXPECT_EQ(cells.max_channels, 24);
  EXPECT_EQ(cells.channels, 22);
  const auto large = plan(Collective::all_reduce, Algorithm::ring, Protocol::simple, 1 << 30);
  EXPECT_EQ(large.chunk_bytes, 2 << 20);
  EXPECT_EQ(large.slice_bytes, 1 << 20);
  EXPECT_EQ(plan(Collective::all_reduce, Algorithm::nvls, Protocol::simple, 16 << 20).chunk_bytes,
            32 << 10);
  EXPECT_EQ(plan(Collective::all_reduce, Algorithm::nvls, Protocol::simple, 1 << 30).chunk_bytes,
            128 << 10);
}

}  // namespace
}  // namespace isleway::nccl
