// What the variables that users set change.
#include <gtest/gtest.h>

#include "isleway/fabric/join.hpp"
#include "isleway/nccl.hpp"

namespace isleway::nccl {
namespace {

class Variables : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    catalogue_ = new Catalogue(*Catalogue::open(ISLEWAY_SOURCE_DIR "/machines"));
  }
  static void TearDownTestSuite() { delete catalogue_; }

  static std::unique_ptr<Communicator> with(std::string_view machine,
                                            std::map<std::string, std::string> env) {
    Options options;
    options.env = std::move(env);
    auto made = Communicator::create(*catalogue_->fabric(machine), catalogue_->parts(), options);
    EXPECT_TRUE(made) << made.error().text();
    return std::move(*made);
  }
  static Decision all_reduce(const Communicator& comm, std::int64_t bytes) {
    const auto decision = comm.decide({Collective::all_reduce, {bytes, 4}, comm.ranks(), 0});
    EXPECT_TRUE(decision) << decision.error().text();
    return *decision;
  }

  static inline Catalogue* catalogue_ = nullptr;
};

constexpr std::int64_t kGiB = 1 << 30;

TEST_F(Variables, AlgorithmsAndProtocolsOfOneFunction) {
  const auto comm = with("dgx-h100", {{"NCCL_ALGO", "allreduce:tree;allgather:ring"},
                                      {"NCCL_PROTO", "allreduce:ll128"}});
  EXPECT_EQ(all_reduce(*comm, kGiB).algorithm, Algorithm::tree);
  EXPECT_EQ(all_reduce(*comm, kGiB).protocol, Protocol::ll128);
  EXPECT_EQ(comm->decide({Collective::all_gather, {kGiB, 4}, 8, 0})->protocol, Protocol::simple);
}

TEST_F(Variables, ChannelsAreBounded) {
  EXPECT_EQ(with("dgx-h100", {{"NCCL_MAX_NCHANNELS", "4"}})->collective_channels(), 4);
  EXPECT_EQ(with("dgx-h100", {{"NCCL_MAX_CTAS", "6"}})->collective_channels(), 6);
  EXPECT_EQ(with("l40s-8", {{"NCCL_MIN_NCHANNELS", "8"}})->collective_channels(), 8);
  EXPECT_EQ(with("l40s-8", {{"NCCL_MIN_CTAS", "3"}})->collective_channels(), 3);
}

TEST_F(Variables, SwitchesTakePathsAway) {
  EXPECT_EQ(with("dgx-h100", {{"NCCL_NVLS_ENABLE", "0"}})->nvls(), nullptr);
  EXPECT_EQ(with("dgx-h100", {{"NCCL_P2P_DISABLE", "1"}})->ring().type_intra, PathKind::sys);
  EXPECT_EQ(with("l40s-8", {})->ring().bw_intra, 20);
  EXPECT_EQ(with("dgx-h100*4", {})->ring().cross_nic, 2);
  EXPECT_EQ(with("dgx-h100*4", {{"NCCL_CROSS_NIC", "0"}})->ring().cross_nic, 0);
  EXPECT_EQ(with("dgx-h100*2", {{"NCCL_MNNVL_ENABLE", "0"}})->nodes(), 2);
  EXPECT_GT(with("dgx-a100*2", {{"NCCL_NET_GDR_LEVEL", "LOC"}})->ring().type_inter, PathKind::pxb);
}

TEST_F(Variables, TraysOfOneDomainAreOneNodeUnlessSwitchedOff) {
  const Fabric trays = *with_joined_hosts(*catalogue_->fabric("gb200-tray*2"), 2);
  for (const auto& [enable, nodes] : {std::pair{"1", 1}, {"0", 2}}) {
    Options options;
    options.env = {{"NCCL_MNNVL_ENABLE", enable}};
    EXPECT_EQ((*Communicator::create(trays, catalogue_->parts(), options))->nodes(), nodes);
  }
}

TEST_F(Variables, BuffersMakeChunks) {
  const auto comm = with("dgx-a100", {{"NCCL_BUFFSIZE", "1048576"}});
  EXPECT_EQ(all_reduce(*comm, kGiB).chunking.chunk_bytes, 4 * 1048576 / 8);
}

TEST_F(Variables, CollNetNeedsTheUserAndTheNetwork) {
  const std::map<std::string, std::string> chain = {{"NCCL_COLLNET_ENABLE", "1"},
                                                    {"NCCL_ALGO", "CollnetChain"}};
  EXPECT_EQ(all_reduce(*with("dgx-b200*4", chain), kGiB).algorithm, Algorithm::collnet_chain);
  const auto one_node = with("dgx-b200", chain);
  EXPECT_FALSE(one_node->decide({Collective::all_reduce, {kGiB, 4}, 8, 0}));
  auto later = chain;
  later["NCCL_COLLNET_NODE_THRESHOLD"] = "8";
  EXPECT_FALSE(with("dgx-b200*4", later)->decide({Collective::all_reduce, {kGiB, 4}, 32, 0}));
}

}  // namespace
}  // namespace isleway::nccl
