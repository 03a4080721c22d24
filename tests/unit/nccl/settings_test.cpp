#include "nccl/settings.hpp"

#include <gtest/gtest.h>

namespace isleway::nccl {
namespace {

Result<Settings> parse(std::map<std::string, std::string> env, Version version = {}) {
  return Settings::parse(env, version);
}

bool allows(const Settings& s, Collective c, Algorithm a) { return s.algorithms(c, index_of(a)); }

TEST(Settings, AlgorithmsByListExceptionAndFunction) {
  const auto list = parse({{"NCCL_ALGO", "Ring,NVLSTree"}});
  ASSERT_TRUE(list);
  EXPECT_TRUE(allows(*list, Collective::all_reduce, Algorithm::ring));
  EXPECT_TRUE(allows(*list, Collective::all_reduce, Algorithm::nvls_tree));
  EXPECT_FALSE(allows(*list, Collective::all_reduce, Algorithm::tree));

  const auto except = parse({{"NCCL_ALGO", "^nvls"}});
  ASSERT_TRUE(except);
  EXPECT_FALSE(allows(*except, Collective::all_reduce, Algorithm::nvls));
  EXPECT_TRUE(allows(*except, Collective::all_reduce, Algorithm::nvls_tree));

  const auto per = parse({{"NCCL_ALGO", "ring;allreduce:tree,nvls"}});
  ASSERT_TRUE(per);
  EXPECT_TRUE(allows(*per, Collective::broadcast, Algorithm::ring));
  EXPECT_FALSE(allows(*per, Collective::all_reduce, Algorithm::ring));
  EXPECT_TRUE(allows(*per, Collective::all_reduce, Algorithm::tree));
  EXPECT_FALSE(parse({{"NCCL_ALGO", "allreduce:tree"}}, {2, 22, 3}));
}

TEST(Settings, BadValuesAreErrorsThatNameTheVariable) {
  for (const auto& [name, value] : std::map<std::string, std::string>{{"NCCL_ALGO", "rign"},
                                                                      {"NCCL_PROTO", "LL256"},
                                                                      {"NCCL_P2P_LEVEL", "FAR"},
                                                                      {"NCCL_MAX_NCHANNELS", "0"},
                                                                      {"NCCL_BUFFSIZE", "4M"},
                                                                      {"NCCL_NVLS_ENABLE", ""}}) {
    const auto settings = parse({{name, value}});
    ASSERT_FALSE(settings) << name;
    EXPECT_NE(settings.error().text().find(name), std::string::npos) << settings.error().text();
  }
}

TEST(Settings, RemarksOnWhatDoesNothing) {
  const auto settings =
      parse({{"NCCL_DEBUG", "INFO"}, {"NCCL_IB_HCA", "mlx5"}, {"NCCL_NVLS_ENABEL", "0"}});
  ASSERT_TRUE(settings);
  ASSERT_EQ(settings->remarks.size(), 3U);
  EXPECT_NE(settings->remarks[2].find("did you mean NCCL_NVLS_ENABLE"), std::string::npos);
}

TEST(Settings, LevelsByNameAndByOldNumber) {
  EXPECT_EQ(parse_level("phb"), PathKind::phb);
  EXPECT_EQ(parse_level("NODE"), PathKind::phb);
  EXPECT_EQ(parse_level("2"), PathKind::pxb);
  EXPECT_EQ(parse_level("5"), PathKind::sys);
  EXPECT_FALSE(parse_level("6"));
}

/// Every variable that users set, with a value that is understood and one that is not.
TEST(Settings, TakesEveryVariableOfTheModel) {
  struct Case {
    const char *name, *good, *bad;
  };
  constexpr Case kCases[] = {{"NCCL_ALGO", "allreduce:ring,tree;broadcast:ring", "allreduce:rign"},
                             {"NCCL_PROTO", "^LL128", "ll,ll64"},
                             {"NCCL_MIN_NCHANNELS", "4", "many"},
                             {"NCCL_MAX_NCHANNELS", "8", "-1"},
                             {"NCCL_MIN_CTAS", "4", "65"},
                             {"NCCL_MAX_CTAS", "8", "0"},
                             {"NCCL_NTHREADS", "256", "1"},
                             {"NCCL_BUFFSIZE", "8388608", "8M"},
                             {"NCCL_P2P_LEVEL", "PXB", "9"},
                             {"NCCL_P2P_DISABLE", "1", "yes"},
                             {"NCCL_SHM_DISABLE", "1", ""},
                             {"NCCL_CROSS_NIC", "1", "3"},
                             {"NCCL_NET_GDR_LEVEL", "SYS", "NEAR"},
                             {"NCCL_NET_GDR_READ", "0", "off"},
                             {"NCCL_PXN_DISABLE", "1", "on"},
                             {"NCCL_P2P_PXN_LEVEL", "0", "3"},
                             {"NCCL_MNNVL_ENABLE", "0", "never"},
                             {"NCCL_NVLS_ENABLE", "0", "never"},
                             {"NCCL_NVLS_NCHANNELS", "8", "0"},
                             {"NCCL_COLLNET_ENABLE", "1", "sharp"},
                             {"NCCL_COLLNET_NODE_THRESHOLD", "4", "-1"},
                             {"NCCL_PAT_ENABLE", "0", "no"},
                             {"NCCL_NET_OVERHEAD", "2000", "2us"},
                             {"NCCL_NCHANNELS_PER_NET_PEER", "4", "0"}};
  for (const Case& one : kCases) {
    const auto good = parse({{one.name, one.good}});
    ASSERT_TRUE(good) << one.name << ": " << good.error().text();
    EXPECT_TRUE(good->remarks.empty()) << one.name;
    const auto bad = parse({{one.name, one.bad}});
    ASSERT_FALSE(bad) << one.name;
    EXPECT_NE(bad.error().text().find(one.name), std::string::npos);
  }
}

}  // namespace
}  // namespace isleway::nccl
