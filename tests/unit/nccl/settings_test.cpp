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

}  // namespace
}  // namespace isleway::nccl
