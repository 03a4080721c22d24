// The packet engine against the flow engine, on real algorithms over random machines: what differs
// is headers, whole packets, buffers and turns.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "isleway/collective.hpp"
#include "isleway/engine/packet.hpp"
#include "unit/engine/fakes.hpp"

namespace isleway {
namespace {

using testing::run;
using testing::star;
using testing::StarWiring;

const PacketOptions& options() {
  static const PacketOptions made = [] {
    PacketOptions options;
    options.rules =
        link::Rules::from(Parts::load(ISLEWAY_SOURCE_DIR "/machines/parts").value()).value();
    return options;
  }();
  return made;
}

struct Case {
  CollectiveCall call;
  int channels = 1;
  Chunking chunking;
  Connection price;
  Fabric fabric;
};

Case any_case(std::mt19937& random, int least_log2, int most_log2) {
  const auto whole = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const auto real = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Case c;
  c.call.ranks = whole(2, 6);
  c.channels = 1 << whole(0, 2);
  c.call.size.bytes = static_cast<std::int64_t>(std::exp2(real(least_log2, most_log2)));
  c.chunking.slice_bytes = std::int64_t{1} << whole(16, 18);
  c.chunking.chunk_bytes = whole(1, 2) * c.chunking.slice_bytes;
  c.price.latency = Time::ns(real(500, 3000));
  c.price.wire_expansion = std::array{1.0, 1.067, 2.0}[static_cast<std::size_t>(whole(0, 2))];
  if (whole(0, 1) == 0) c.price.cap = Rate::GBs(real(5, 80));
  Efficiency efficiency;
  efficiency.sm = real(0.7, 0.9);
  c.fabric = star(c.call.ranks, Rate::GBs(real(10, 500)), efficiency, Time::ns(150));
  return c;
}

std::unique_ptr<Schedule> schedule(const Case& c, int algorithm) {
  std::vector<int> island(static_cast<std::size_t>(c.call.ranks));
  std::iota(island.begin(), island.end(), 0);
  CollectiveCall call = c.call;
  switch (algorithm) {
    case 0: return make_simple_ring(call, c.channels, c.chunking).value();
    case 1: {
      std::vector<TreeShape> trees;
      for (int i = 0; i < c.channels; ++i)
        trees.push_back(i % 2 == 0 ? binary_tree(call.ranks) : mirrored_binary_tree(call.ranks));
      return make_tree(call, trees, c.chunking).value();
    }
    case 2: return make_nvls(call, c.channels, {island}, call.ranks, c.chunking).value();
    default:
      call.collective = Collective::all_to_all;
      return make_point_to_point(call, c.channels, c.channels, call.ranks, c.chunking).value();
  }
}

enum Algorithm { kRing, kTree, kInSwitch, kAllToAll };

/// Packet over flow, less 1: the middle, the least and the most of many cases.
struct Differences {
  double median = 0, least = 0, most = 0;
};

Differences differences(Algorithm algorithm, int least_log2, int most_log2,
                        const PacketOptions& with = options()) {
  std::mt19937 random(5);
  std::vector<double> all;
  for (int i = 0; i < 24; ++i) {
    const Case c = any_case(random, least_log2, most_log2);
    const auto calls = schedule(c, algorithm);
    const StarWiring wiring(c.call.ranks, c.price);
    const double flow = run(*make_flow_engine(), c.fabric, *calls, wiring).time.us();
    const double packet = run(*make_packet_engine(with), c.fabric, *calls, wiring).time.us();
    all.push_back(packet / flow - 1);
  }
  std::ranges::sort(all);
  return {all[all.size() / 2], all.front(), all.back()};
}

void expect(const Differences& found, const Differences& bound) {
  EXPECT_LE(std::abs(found.median), bound.median);
  EXPECT_GE(found.least, bound.least);
  EXPECT_LE(found.most, bound.most);
}

constexpr int kSmall[] = {6, 14}, kLarge[] = {22, 24};  // 64 bytes to 16 KiB; 4 to 16 MiB

// Flows that begin together end together, however long they go on like that. Trains that take turns
// end one after the other, and where a message's latency outlasts its bytes, channels that drift
// apart gain from it.

TEST(PacketsAgreeWithFlows, OnRings) {
  expect(differences(kRing, kLarge[0], kLarge[1]), {0.03, -0.25, 0.01});
  expect(differences(kRing, kSmall[0], kSmall[1]), {0.01, -0.10, 0.05});
}

// A rank of a tree sends to several others through one buffer of its switch: what waits for a busy
// output holds up the rest.
TEST(PacketsAgreeWithFlows, OnTrees) {
  expect(differences(kTree, kLarge[0], kLarge[1]), {0.02, -0.02, 0.13});
  expect(differences(kTree, kSmall[0], kSmall[1]), {0.01, -0.07, 0.05});
}

TEST(PacketsAgreeWithFlows, OnTreesWithoutBuffers) {
  PacketOptions unbounded = options();
  unbounded.flow_control = false;
  expect(differences(kTree, kLarge[0], kLarge[1], unbounded), {0.01, -0.10, 0.02});
}

TEST(PacketsAgreeWithFlows, OnInSwitchReduction) {
  expect(differences(kInSwitch, kLarge[0], kLarge[1]), {0.02, -0.05, 0.05});
  expect(differences(kInSwitch, kSmall[0], kSmall[1]), {0.01, -0.06, 0.05});
}

TEST(PacketsAgreeWithFlows, OnAllToAll) {
  expect(differences(kAllToAll, kLarge[0], kLarge[1]), {0.02, -0.03, 0.03});
  expect(differences(kAllToAll, kSmall[0], kSmall[1]), {0.01, -0.03, 0.03});
}

}  // namespace
}  // namespace isleway
