#include "unit/check/signals.hpp"

namespace isleway::check {
namespace {

using MeshTest = CheckTest;

TEST_F(MeshTest, AFullMeshIsAsExpected) {
  say_mesh(8, 18);
  say("gpu.name", "gpu0", "NVIDIA H100 80GB HBM3");
  const Report report = find();
  EXPECT_TRUE(finding(report, "mesh-complete"));
  EXPECT_EQ(report.verdict(), Severity::good);
}

TEST_F(MeshTest, OneGpuOffTheFabricIsCritical) {
  std::vector<std::vector<int>> widths(8, std::vector<int>(8, 18));
  for (int i = 0; i < 8; ++i) widths[2][i] = widths[i][2] = 0;
  say_matrix(widths);
  const Report report = find();
  const Finding* off = finding(report, "mesh-gpu-off");
  ASSERT_TRUE(off);
  EXPECT_EQ(off->subjects, std::vector<std::string>{"gpu2"});
  EXPECT_EQ(off->severity, Severity::critical);
  EXPECT_NE(off->title.find("NV18"), std::string::npos);
}

TEST_F(MeshTest, ExportPartsAreFullAtEight) {
  say_mesh(8, 8);
  const Report unnamed = find();
  ASSERT_TRUE(finding(unnamed, "mesh-complete-if"));
  EXPECT_NE(finding(unnamed, "mesh-complete-if")->title.find("H800"), std::string::npos);
  say("gpu.name", "gpu0", "NVIDIA H100 80GB HBM3");
  EXPECT_TRUE(finding(find(), "mesh-narrow"));
}

TEST_F(MeshTest, BoardsOfFourShareTheLinksBetweenThreePeers) {
  for (const auto& [name, width] :
       {std::pair{"NVIDIA A100-SXM4-40GB", 4}, {"NVIDIA H100 80GB HBM3", 6}}) {
    signals_.clear();
    say_mesh(4, width);
    say("gpu.name", "gpu0", std::string(name));
    EXPECT_TRUE(finding(find(), "mesh-complete")) << name;
  }
}

TEST_F(MeshTest, ABridgeWithALinkLessIsNotSeated) {
  say_mesh(2, 3);
  const Report report = find();
  const Finding* partial = finding(report, "mesh-bridge-partial");
  ASSERT_TRUE(partial);
  EXPECT_NE(partial->title.find("3 of 4"), std::string::npos);
}

TEST_F(MeshTest, TwoPairsOfThreeArePower9) {
  say_matrix({{0, 3, 0, 0}, {3, 0, 0, 0}, {0, 0, 0, 3}, {0, 0, 3, 0}});
  const Report report = find();
  EXPECT_FALSE(finding(report, "mesh-bridge-partial"));
  EXPECT_TRUE(finding(report, "mesh-islands"));
}

TEST_F(MeshTest, HybridCubesAreWholeWhenSumsAreEqual) {
  std::vector<std::vector<int>> cube = {{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0},
                                        {1, 2, 0, 2, 0, 0, 1, 0}, {2, 1, 2, 0, 0, 0, 0, 1},
                                        {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1},
                                        {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}};
  say_matrix(cube);
  EXPECT_TRUE(finding(find(), "mesh-direct"));
  signals_.clear();
  cube[0][3] = cube[3][0] = 1;
  say_matrix(cube);
  EXPECT_TRUE(finding(find(), "mesh-sum-low"));
}

TEST_F(MeshTest, HalfACubeHasLinksThatLeadOutOfSight) {
  say_matrix({{0, 1, 1, 2}, {1, 0, 2, 1}, {1, 2, 0, 2}, {2, 1, 2, 0}});
  const Report report = find();
  EXPECT_TRUE(finding(report, "mesh-direct"));
  EXPECT_EQ(report.verdict(), Severity::good);
}

TEST_F(MeshTest, TheOddCardWithoutABridgeIsNoFault) {
  say_matrix({{0, 4, 0}, {4, 0, 0}, {0, 0, 0}});
  const Report report = find();
  EXPECT_TRUE(finding(report, "mesh-unbridged"));
  EXPECT_EQ(report.verdict(), Severity::good);
}

TEST_F(MeshTest, TopoMpSaysNothingOfNvlink) {
  say_mesh(8, 0);
  say("topo.hides_nvlink", "", 1.0);
  const Report report = find();
  EXPECT_TRUE(finding(report, "topo-hides-nvlink"));
  EXPECT_FALSE(finding(report, "mesh-no-nvlink-unknown"));
  EXPECT_EQ(report.verdict(), Severity::unknown);
}

}  // namespace
}  // namespace isleway::check
