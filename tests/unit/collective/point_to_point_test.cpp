#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "collective/peer_rounds.hpp"
#include "unit/collective/prove.hpp"

namespace isleway {
namespace {

const std::vector<Collective> kPeerCollectives = {Collective::all_to_all, Collective::gather,
                                                  Collective::scatter, Collective::sendrecv};

TEST(PeerRounds, EveryRoundIsAPermutationAndEveryPeerComesOnce) {
  for (const auto& [ranks, group] :
       {std::pair{1, 1}, {8, 8}, {24, 8}, {40, 8}, {12, 8}, {7, 1}, {72, 8}, {16, 4}}) {
    const PeerRounds rounds(ranks, group);
    for (int rank = 0; rank < ranks; ++rank) {
      std::set<int> peers;
      for (int round = 0; round < rounds.count(); ++round) {
        const int peer = rounds.send_peer(rank, round);
        EXPECT_EQ(rounds.recv_peer(peer, round), rank);
        EXPECT_EQ(rounds.round_of(rank, peer), round);
        peers.insert(peer);
      }
      EXPECT_EQ(peers.size(), static_cast<std::size_t>(ranks));
    }
  }
}

TEST(PeerRounds, GroupsFollowTriangularNumbers) {
  const PeerRounds rounds(16 * 8, 8);
  std::vector<int> groups;
  for (int round = 0; round < rounds.count(); round += 8)
    groups.push_back(rounds.send_peer(0, round) / 8);
  EXPECT_EQ(groups, (std::vector<int>{0, 1, 3, 6, 10, 15, 5, 12, 4, 13, 7, 2, 14, 11, 9, 8}));
}

TEST(PeerRounds, EightPeersWithFourChannelsEachFillThirtyTwoChannels) {
  const PeerRounds rounds(8, 8);
  std::set<int> channels;
  for (int round = 0; round < 8; ++round)
    for (int part = 0; part < 4; ++part) channels.insert(channel_of_part(rounds, round, part, 32));
  EXPECT_EQ(channels.size(), 32U);
}

TEST(PointToPoint, EveryCollectiveIsRightAtOddSizesAndRankCounts) {
  for (const Collective collective : kPeerCollectives)
    for (const auto& [ranks, group] :
         {std::pair{1, 1}, {2, 2}, {3, 3}, {8, 8}, {17, 17}, {12, 4}, {18, 8}})
      for (const std::int64_t bytes : {0, 4, 244, 20'000}) {
        const CollectiveCall call{collective, {bytes, 4}, ranks, ranks / 3};
        const auto schedule = make_point_to_point(call, 4, 2, group, {2048, 2048});
        ASSERT_TRUE(schedule) << schedule.error().text();
        EXPECT_EQ(problem_with(call, **schedule, 1, static_cast<std::uint64_t>(bytes + ranks)), "");
      }
}

RC_GTEST_PROP(PointToPoint, IsRightForAnyRootGroupAndChannels, ()) {
  const int ranks = *rc::gen::inRange(1, 14);
  const CollectiveCall call{*rc::gen::elementOf(kPeerCollectives),
                            {*rc::gen::inRange(0, 15000), *rc::gen::element(1, 2, 4, 8)},
                            ranks,
                            *rc::gen::inRange(0, ranks)};
  const int channels = *rc::gen::element(1, 2, 4, 8);
  const int per_peer = std::min(channels, *rc::gen::element(1, 2, 4));
  const std::int64_t chunk = 16 * *rc::gen::inRange(50, 500);
  const auto schedule = make_point_to_point(call, channels, per_peer,
                                            *rc::gen::inRange(1, ranks + 1), {chunk, chunk});
  RC_ASSERT(schedule.has_value());
  RC_ASSERT(problem_with(call, **schedule, 1, *rc::gen::inRange(1, 1000)) == std::string());
}

TEST(PointToPoint, SendsEachPeerItsShareOnce) {
  const std::int64_t bytes = 64 << 20;
  const CollectiveCall call{Collective::all_to_all, {bytes, 4}, 8, 0};
  std::int64_t out = 0, kept = 0;
  (*make_point_to_point(call, 32, 4, 8, {1 << 19, 1 << 19}))->loads([&](const Load& load) {
    if (load.from.agent != 5) return;
    (load.to.agent == 5 ? kept : out) += load.bytes;
  });
  EXPECT_EQ(out, bytes * 7 / 8);
  EXPECT_EQ(kept, bytes / 8);
}

TEST(PointToPoint, RefusesWhatMakesNoSense) {
  const CollectiveCall call{Collective::all_to_all, {1024, 4}, 4, 0};
  EXPECT_EQ(make_point_to_point(call, 6, 2, 4, {}).error().what, "6 channels for send/recv");
  EXPECT_EQ(make_point_to_point(call, 4, 8, 4, {}).error().what, "8 channels for a peer");
  EXPECT_EQ(make_point_to_point(call, 4, 3, 4, {}).error().what, "3 channels for a peer");
  EXPECT_EQ(make_point_to_point(call, 4, 2, 0, {}).error().what, "groups of 0 ranks");
}

TEST(Copy, MovesEachPairsBytes) {
  // A ring of copies is what sendrecv does; sizes that end in a short message.
  for (const std::int64_t bytes : {0, 4, 1000, 4096}) {
    const CollectiveCall call{Collective::sendrecv, {bytes, 4}, 3, 0};
    EXPECT_EQ(problem_with(call, *make_copy(3, {{0, 1}, {1, 2}, {2, 0}}, bytes, 256), 1), "");
  }
  const CollectiveCall alone{Collective::sendrecv, {1000, 4}, 1, 0};
  EXPECT_EQ(problem_with(alone, *make_copy(1, {{0, 0}}, 1000, 256), 1), "");
}

}  // namespace
}  // namespace isleway
