#include "unit/check/signals.hpp"

namespace isleway::check {
namespace {

class LinksTest : public CheckTest {
 protected:
  void say_gpu(int gpu, const std::string& name, int up, int down, double rate) {
    const std::string subject = "gpu" + std::to_string(gpu);
    say("gpu.name", subject, name);
    for (int link = 0; link < up + down; ++link) {
      const std::string at = subject + "/link" + std::to_string(link);
      say("nvlink.state", at, std::string(link < up ? "active" : "inactive"));
      if (link < up) say("nvlink.rate_GBs", at, rate);
    }
    say("nvlink.active", subject, double(up));
    say("nvlink.listed", subject, double(up + down));
  }
};

TEST_F(LinksTest, AllLinksUp) {
  for (int gpu = 0; gpu < 8; ++gpu) say_gpu(gpu, "NVIDIA H200", 18, 0, 26.562);
  const Report report = find();
  ASSERT_TRUE(finding(report, "nvlink-complete"));
  EXPECT_EQ(finding(report, "nvlink-complete")->subjects.size(), 8u);
  EXPECT_EQ(report.verdict(), Severity::good);
}

TEST_F(LinksTest, LinksDownOnAModule) {
  say_gpu(3, "Tesla V100-SXM2-32GB", 4, 2, 25.781);
  const Report report = find();
  const Finding* missing = finding(report, "nvlink-links-missing");
  ASSERT_TRUE(missing);
  EXPECT_NE(missing->title.find("4 of 6"), std::string::npos);
  EXPECT_NE(missing->title.find("52 GB/s lost"), std::string::npos);
  EXPECT_NE(missing->title.find("link 4, 5"), std::string::npos);
}

TEST_F(LinksTest, TwelveOfEighteenIsAllThatABridgeJoins) {
  say_gpu(0, "NVIDIA H100 NVL", 12, 6, 26.562);
  const Report report = find();
  EXPECT_TRUE(finding(report, "nvlink-complete-by-design"));
  EXPECT_EQ(report.verdict(), Severity::good);
}

TEST_F(LinksTest, ThePairThatIsSoldWithBridgesMissesThem) {
  for (int gpu = 0; gpu < 2; ++gpu) say_gpu(gpu, "NVIDIA H100 NVL", 0, 18, 0);
  EXPECT_TRUE(finding(find(), "nvlink-bridge-missing"));
}

TEST_F(LinksTest, NothingUpMeansDifferentThings) {
  say_gpu(0, "NVIDIA B200", 0, 18, 0);
  EXPECT_TRUE(finding(find(), "nvlink-all-down"));
  signals_.clear();
  say_gpu(0, "NVIDIA A100 80GB PCIe", 0, 12, 0);
  EXPECT_TRUE(finding(find(), "nvlink-no-bridge"));
  signals_.clear();
  say_gpu(0, "NVIDIA L40S", 0, 0, 0);
  EXPECT_TRUE(finding(find(), "nvlink-none-on-product"));
}

TEST_F(LinksTest, SlowLinks) {
  say_gpu(0, "NVIDIA A100-SXM4-80GB", 12, 0, 20);
  EXPECT_TRUE(finding(find(), "nvlink-slow"));
}

TEST_F(LinksTest, UnknownProductsAreNotJudged) {
  say_gpu(0, "Some Future GPU", 10, 8, 60);
  EXPECT_EQ(find().verdict(), Severity::unknown);
}

}  // namespace
}  // namespace isleway::check
