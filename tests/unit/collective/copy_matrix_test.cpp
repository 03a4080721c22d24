#include "isleway/collective/copy_matrix.hpp"

#include <gtest/gtest.h>

#include "isleway/fabric/catalogue.hpp"
#include "isleway/fabric/change.hpp"

namespace isleway {
namespace {

// Four V100s with two NVLinks a pair, two below each PCIe switch.
constexpr const char* kFourV100 = R"(
name: four-v100
title: 4x V100
source: "made for a test"
cpus: {part: xeon-skylake, sockets: 2, cores: 20, source: "made for a test"}
gpus: {part: v100-sxm2, count: 4, source: "made for a test"}
pcie:
  cpu0: [[gpu0, gpu1]]
  cpu1: [[gpu2, gpu3]]
  source: "made for a test"
nvlink: {mesh: 2, source: "made for a test"}
)";

constexpr const char* kTwoGamingGpus = R"(
name: two-4090
title: 2x RTX 4090
source: "made for a test"
cpus: {part: epyc-milan, sockets: 1, cores: 32, source: "made for a test"}
gpus: {part: rtx-4090, count: 2, source: "made for a test"}
pcie:
  cpu0: [gpu0, gpu1]
  source: "made for a test"
)";

constexpr const char* kTwoPcie5Gpus = R"(
name: two-5090
title: 2x RTX 5090
source: "made for a test"
cpus: {part: epyc-genoa, sockets: 1, cores: 32, source: "made for a test"}
gpus: {part: rtx-5090, count: 2, source: "made for a test"}
pcie:
  cpu0: [gpu0, gpu1]
  source: "made for a test"
)";

class Copies : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Catalogue::open(ISLEWAY_SOURCE_DIR "/machines");
    ASSERT_TRUE(opened) << opened.error().text();
    catalogue_ = std::move(*opened);
  }
  Fabric machine(const char* name) {
    auto fabric = catalogue_.fabric(name);
    EXPECT_TRUE(fabric) << fabric.error().text();
    return *fabric;
  }
  Fabric from_yaml(const char* text) {
    auto unit = catalogue_.unit_from_yaml(text, "test.yaml");
    EXPECT_TRUE(unit) << unit.error().text();
    return Fabric::single(*unit).value();
  }
  CopyMatrices matrices(const Fabric& fabric, const CopyOptions& options = {}) {
    auto copies = copy_matrices(fabric, catalogue_.parts(), options);
    EXPECT_TRUE(copies) << copies.error().text();
    return *copies;
  }
  Catalogue catalogue_;
};

#define EXPECT_WITHIN(percent, value, measured) \
  EXPECT_NEAR((value) / (measured), 1.0, (percent) / 100.0) << "measured " << (measured)

// Measured values: see docs/p2p.md, which names the source of each.

TEST_F(Copies, A100OverNvswitchesIsNearWhatIsMeasured) {
  const CopyMatrices copies = matrices(machine("dgx-a100"));
  EXPECT_WITHIN(3, copies.unidirectional_GBs[0][5], 274.5);
  EXPECT_WITHIN(2, copies.bidirectional_GBs[1][3], 413.0);
  EXPECT_WITHIN(3, copies.bidirectional_read_GBs[1][3], 423.0);
  EXPECT_WITHIN(3, copies.unidirectional_GBs[2][2], 1583.0);
  // Through host memory: below different switches, and below the same.
  EXPECT_WITHIN(6, copies.unidirectional_no_p2p_GBs[0][4], 20.3);
  EXPECT_WITHIN(6, copies.unidirectional_no_p2p_GBs[0][1], 17.7);
  EXPECT_WITHIN(6, copies.bidirectional_no_p2p_GBs[0][4], 28.5);
  EXPECT_WITHIN(6, copies.bidirectional_no_p2p_GBs[0][1], 16.5);
  EXPECT_EQ(copies.path[0][1], PathKind::nvl);
  EXPECT_TRUE(copies.peer_access[0][1]);
  EXPECT_LT(copies.latency_us[0][1], 4);
  EXPECT_GT(copies.latency_no_p2p_us[0][1], 10);
}

// The crossbar of a GPU follows its clock and limits what goes both ways.
TEST_F(Copies, A100AtFullClockMovesMoreBothWays) {
  const CopyMatrices copies = matrices(machine("dgx-a100"), {.full_clock = true});
  EXPECT_WITHIN(3, copies.bidirectional_GBs[4][7], 524.0);
  EXPECT_WITHIN(3, copies.bidirectional_read_GBs[0][1], 526.3);
  EXPECT_WITHIN(3, copies.unidirectional_GBs[0][5], 274.5);
}

TEST_F(Copies, H100OverNvswitchesIsNearWhatIsMeasured) {
  const CopyMatrices copies = matrices(machine("dgx-h100"));
  EXPECT_WITHIN(4, copies.unidirectional_GBs[0][1], 385.0);
  EXPECT_WITHIN(4, copies.bidirectional_GBs[0][1], 765.0);
  EXPECT_WITHIN(3, copies.bidirectional_read_GBs[0][1], 671.5);
  EXPECT_WITHIN(5, copies.unidirectional_no_p2p_GBs[0][1], 37.2);
  // The other socket is no slower: its wires are wider than any GPU's port.
  EXPECT_NEAR(copies.unidirectional_no_p2p_GBs[0][4], copies.unidirectional_no_p2p_GBs[0][1], 0.01);
  const auto host = host_copies(machine("dgx-h100"), catalogue_.parts());
  ASSERT_TRUE(host);
  ASSERT_EQ(host->host_to_device_GBs.size(), 8u);
  EXPECT_WITHIN(2, host->host_to_device_GBs[7], 55.4);
  EXPECT_WITHIN(2, host->device_to_host_GBs[0], 55.1);
}

TEST_F(Copies, V100MeshIsNearWhatIsMeasured) {
  const CopyMatrices copies = matrices(from_yaml(kFourV100));
  EXPECT_WITHIN(1, copies.unidirectional_GBs[0][3], 48.48);
  EXPECT_WITHIN(1, copies.bidirectional_GBs[0][3], 96.9);
  EXPECT_WITHIN(4, copies.unidirectional_no_p2p_GBs[0][3], 10.8);
  EXPECT_WITHIN(7, copies.unidirectional_no_p2p_GBs[0][1], 9.55);
  EXPECT_WITHIN(3, copies.bidirectional_no_p2p_GBs[0][3], 14.7);
  EXPECT_WITHIN(8, copies.bidirectional_no_p2p_GBs[0][1], 9.7);
}

TEST_F(Copies, GpusWithoutPeerAccessGoThroughHostMemory) {
  const CopyMatrices copies = matrices(from_yaml(kTwoGamingGpus));
  EXPECT_FALSE(copies.peer_access[0][1]);
  EXPECT_EQ(copies.unidirectional_GBs, copies.unidirectional_no_p2p_GBs);
  EXPECT_EQ(copies.latency_us, copies.latency_no_p2p_us);
  EXPECT_WITHIN(5, copies.unidirectional_GBs[0][1], 20.9);
  EXPECT_WITHIN(8, copies.bidirectional_GBs[0][1], 29.7);
  const CopyMatrices faster = matrices(from_yaml(kTwoPcie5Gpus));
  EXPECT_WITHIN(8, faster.unidirectional_GBs[0][1], 38.2);
  EXPECT_WITHIN(10, faster.bidirectional_GBs[0][1], 43.2);
}

TEST_F(Copies, MigTakesPeerAccessAway) {
  const auto mig = with_mig(machine("dgx-h100"));
  ASSERT_TRUE(mig);
  const CopyMatrices copies = matrices(*mig);
  EXPECT_FALSE(copies.peer_access[0][1]);
  EXPECT_LT(copies.unidirectional_GBs[0][1], 60);
}

TEST_F(Copies, PairsOnDifferentHostsHaveNoCopies) {
  const CopyMatrices copies = matrices(machine("dgx-h100*2"));
  ASSERT_EQ(copies.path.size(), 16u);
  EXPECT_EQ(copies.path[0][8], PathKind::net);
  EXPECT_EQ(copies.unidirectional_GBs[0][8], 0);
  EXPECT_EQ(copies.unidirectional_GBs[9][8], copies.unidirectional_GBs[1][0]);
}

TEST_F(Copies, AMatrixOfTooManyGpusIsRefused) {
  const auto copies = copy_matrices(machine("dgx-h100*200"), catalogue_.parts());
  ASSERT_FALSE(copies);
  EXPECT_NE(copies.error().what.find("1600"), std::string::npos);
}

TEST(CopyPrices, AMissingConstantIsNamed) {
  const auto copies = copy_matrices(Fabric(), Parts());
  ASSERT_FALSE(copies);
  EXPECT_NE(copies.error().what.find("copy.launch"), std::string::npos);
}

}  // namespace
}  // namespace isleway
