// Algorithms of other tools: damage is told, never obeyed.
#include "isleway/formats/algorithm.hpp"

#include <gtest/gtest.h>

#include <random>

#include "isleway/core/file.hpp"

namespace isleway::formats {
namespace {

constexpr const char* kFiles[] = {
    "ring.xml",     "all-pairs.xml", "put-all-gather.json", "read-all-reduce.json",
    "packets.json", "multimem.json", "pipeline.json"};

std::string text_of(const char* name) {
  return read_file(std::string(ISLEWAY_SOURCE_DIR "/tests/cases/algorithms/") + name).value();
}

Error error_of(const std::string& text) {
  const auto read = read_algorithm(text, "file");
  EXPECT_FALSE(read) << text;
  return read ? Error{} : read.error();
}

TEST(Algorithm, TellsWhatItIs) {
  const auto ring = read_algorithm(text_of("ring.xml"), "ring.xml").value();
  EXPECT_EQ(ring.format, "msccl-xml");
  EXPECT_EQ(ring.collective, "allreduce");
  EXPECT_EQ(ring.ranks, 4);
  EXPECT_EQ(ring.chunks, 4);
  EXPECT_TRUE(ring.in_place);
  EXPECT_EQ(ring.max_bytes, INT64_MAX);  // 0 stands for no limit
  const auto plan = read_algorithm(text_of("packets.json"), "packets.json").value();
  EXPECT_EQ(plan.format, "mscclpp-plan");
  EXPECT_EQ(plan.protocol, "LL");
  EXPECT_TRUE(plan.one_sided);
  EXPECT_EQ(plan.max_bytes, INT64_MAX);
}

TEST(Algorithm, OfNeitherFormatIsAnError) {
  EXPECT_EQ(error_of("").what, "is empty");
  EXPECT_EQ(error_of("<system version=\"1\"/>").what, "holds no algorithm");
  EXPECT_EQ(error_of("\x1f\x8b__").what, "is compressed by gzip");
}

TEST(Algorithm, SaysWhereItsStepsMakeNoSense) {
  const std::string head =
      "<algo name=\"a\" nchunksperloop=\"2\" ngpus=\"2\" coll=\"allgather\">\n";
  const auto body = [&](const std::string& first) {
    return head + "<gpu id=\"0\" i_chunks=\"1\" o_chunks=\"2\">\n" + first +
           "</gpu>\n<gpu id=\"1\"/>\n</algo>";
  };
  EXPECT_EQ(error_of(head + "<gpu id=\"0\"/></algo>").what, "has 1 <gpu>");
  EXPECT_EQ(error_of(body("<tb id=\"0\" send=\"7\"/>")).what, "<tb> has send='7'");
  const Error peerless =
      error_of(body("<tb id=\"0\" send=\"1\">\n<step type=\"s\" srcbuf=\"i\" srcoff=\"0\"/></tb>"));
  EXPECT_EQ(peerless.what, "GPU 0 sends to GPU 1 on channel 0, where no threadblock receives");
  EXPECT_EQ(peerless.where.line, 3);
  EXPECT_EQ(error_of(body("<tb id=\"0\"><step type=\"cpy\" srcbuf=\"q\" srcoff=\"0\"/></tb>")).what,
            "srcbuf='q'");
  EXPECT_EQ(error_of(body("<tb id=\"0\">\n<step type=\"nop\" depid=\"3\" deps=\"0\"/></tb>")).what,
            "waits for step 0 of threadblock 3, which GPU 0 does not have");
  EXPECT_EQ(error_of(body("<tb id=\"0\"><step type=\"s\"/></tb>")).what,
            "a step that sends, in a threadblock that sends to nobody");
}

TEST(Algorithm, CutOffIsAnError) {
  for (const char* name : kFiles) {
    const std::string text = text_of(name);
    for (const double share : {0.3, 0.6, 0.99}) {
      const auto cut =
          text.substr(0, static_cast<std::size_t>(share * static_cast<double>(text.size())));
      EXPECT_FALSE(read_algorithm(cut, name)) << name << " " << share;
    }
  }
}

/// Any digit may be another, any text gone: an algorithm or a reason comes back.
TEST(Algorithm, SurvivesDamage) {
  std::mt19937_64 random(1);
  for (const char* name : kFiles) {
    const std::string whole = text_of(name);
    for (int i = 0; i < 200; ++i) {
      std::string text = whole;
      for (std::uint64_t n = random() % 4; n-- > 0;) {
        const std::size_t at = random() % text.size();
        if (random() % 4 == 0) text.erase(at, random() % 40);
        else text[at] = "0123456789-\"{}[]<>/is"[random() % 21];
      }
      const auto read = read_algorithm(text, name);
      if (!read) {
        EXPECT_FALSE(read.error().what.empty());
      }
    }
  }
}

TEST(Algorithm, OfAnOldPlanSaysSo) {
  const Error error = error_of(R"({"name": "a", "gpus": [{"id": 0, "inputChunks": 8}]})");
  EXPECT_NE(error.what.find("before its DSL"), std::string::npos);
}

}  // namespace
}  // namespace isleway::formats
