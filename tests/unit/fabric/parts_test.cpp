#include "isleway/fabric/parts.hpp"

#include <gtest/gtest.h>

#include "isleway/core/file.hpp"

namespace isleway {
namespace {

const Parts& parts() {
  static const Parts all = [] {
    auto loaded = Parts::load(ISLEWAY_SOURCE_DIR "/machines/parts");
    if (!loaded) ADD_FAILURE() << loaded.error().text();
    return loaded ? std::move(*loaded) : Parts();
  }();
  return all;
}

TEST(Parts, NvlinkBandwidthPerGpuIsThePublishedOne) {
  const struct {
    const char* gpu;
    double both_ways_GBs;
  } published[] = {{"p100-sxm2", 160},    {"v100-sxm2", 300}, {"a100-sxm4-80", 600},
                   {"a800-sxm4-80", 400}, {"h100-sxm", 900},  {"h800-sxm", 400},
                   {"h20", 900},          {"h200", 900},      {"h100-nvl", 600},
                   {"rtx-a6000", 112.5},  {"a40", 112.5},     {"b200", 1800},
                   {"gb300", 1800},       {"rubin", 3600},    {"mi300x", 896}};
  for (const auto& row : published) {
    const GpuPart* gpu = parts().gpu(row.gpu);
    ASSERT_TRUE(gpu) << row.gpu;
    const LinkPart* link = parts().link(gpu->nvlink_part);
    ASSERT_TRUE(link) << row.gpu;
    EXPECT_DOUBLE_EQ(2 * link->link_rate.GBs() * gpu->info.nvlink_links, row.both_ways_GBs)
        << row.gpu;
  }
}

TEST(Parts, EverySourceCanBeFollowed) {
  const auto check = [](const auto& all) {
    for (const auto& [key, part] : all) EXPECT_GE(part.source.size(), 10u) << key;
  };
  check(parts().gpus());
  check(parts().links());
  check(parts().nvswitches());
  check(parts().nics());
  check(parts().cpus());
  check(parts().constants());
}

TEST(Parts, GuessesTheBoardFromWhatAFileTells) {
  const auto guess = [](const char* id, int sm, int nvlinks) {
    const GpuPart* gpu = parts().guess_gpu(id, sm, nvlinks);
    return gpu ? gpu->key : std::string();
  };
  EXPECT_EQ(guess("0x2330", 0, 0), "h100-sxm");
  EXPECT_EQ(guess("", 90, 18), "h100-sxm");
  EXPECT_EQ(guess("", 90, 8), "h800-sxm");
  EXPECT_EQ(guess("", 90, 17), "h100-sxm");  // one link down
  EXPECT_EQ(guess("", 80, 12), "a100-sxm4-80");
  EXPECT_EQ(guess("", 80, 8), "a800-sxm4-80");
  EXPECT_EQ(guess("", 70, 6), "v100-sxm2");
  EXPECT_EQ(guess("", 89, 0), "l40s");
  EXPECT_EQ(guess("", 103, 18), "b300");
  EXPECT_EQ(guess("", 42, 0), "");
}

TEST(Parts, PcieRatesFollowTheLanes) {
  const Link x16 = parts().make_link(LinkKind::pcie, 4, 1, 16, false);
  const Link x8 = parts().make_link(LinkKind::pcie, 4, 1, 8, false);
  EXPECT_DOUBLE_EQ(x16.rate().GBs(), 31.508);
  EXPECT_DOUBLE_EQ(x8.rate().GBs(), 31.508 / 2);
  EXPECT_EQ(x8.lanes, 8);
  EXPECT_EQ(x8.lanes_max, 8);
}

TEST(Parts, APathThroughASwitchHasTheSwitchsLatencyOnce) {
  const Link direct = parts().make_link(LinkKind::nvlink, 4, 1, 0, false);
  const Link switched = parts().make_link(LinkKind::nvlink, 4, 1, 0, true);
  EXPECT_EQ(2 * switched.latency, 2 * direct.latency + parts().nvswitch("nvswitch3")->latency);
}

TEST(Parts, UnknownGenerationsFallToTheNearestKnown) {
  EXPECT_EQ(parts().link(LinkKind::pcie, 9)->key, "pcie6");
  EXPECT_EQ(parts().link(LinkKind::nvlink, 3)->key, "nvlink3");
}

TEST(Parts, MistakesAreFoundAtTheirLine) {
  const struct {
    const char* text;
    int line;
    const char* says;
  } mistakes[] = {
      {"gpus:\n  x:\n    title: X\n    memory_rte: 1GB/s\n    source: a b\n", 4,
       "try: memory_rate"},
      {"gpus:\n  x:\n    title: X\n", 2, "lacks 'source'"},
      {"gpus:\n  x:\n    title: X\n    memory_rate: 900\n    source: a b\n", 4,
       "a rate with its unit"},
      {"links:\n  x: {kind: nvlnk, rate: 1GB/s, source: a b}\n", 2, "nvlink, xgmi"},
      {"links:\n  x: {kind: nvlink, source: a b}\n", 2, "lacks a 'rate'"},
      {"links:\n  x: {kind: pcie, rate: 1GB/s, direct: {sm: 1.5}, source: a b}\n", 2, "0.01 to 1"},
      {"nics:\n  x: {title: X, rate: 1Gbps, source: speck}\n", 2, "speck"},
      {"constants:\n  x: {value: much, source: a b}\n", 2, "a number"},
      {"gpu:\n  x: {title: X}\n", 1, "try: gpus"},
      {"gpus:\n  x: {title: X, nvlink: {generation: 9, links: 4}, source: a b}\n", 0,
       "unknown NVLink"},
  };
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "isleway_parts";
  std::filesystem::create_directories(folder);
  for (const auto& mistake : mistakes) {
    ASSERT_TRUE(write_file(folder / "parts.yaml", mistake.text));
    const auto loaded = Parts::load(folder);
    ASSERT_FALSE(loaded) << mistake.text;
    EXPECT_EQ(loaded.error().where.line, mistake.line) << loaded.error().text();
    EXPECT_NE(loaded.error().text().find(mistake.says), std::string::npos) << loaded.error().text();
  }
  std::filesystem::remove_all(folder);
}

TEST(Parts, AFolderWithoutPartsSaysSo) {
  const auto loaded = Parts::load("/nonexistent");
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().text().find("ISLEWAY_DATA"), std::string::npos);
}

}  // namespace
}  // namespace isleway
