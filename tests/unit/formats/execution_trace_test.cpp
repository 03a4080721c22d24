// Chakra traces: what is written by hand is read back, and damage is told.
#include "isleway/formats/execution_trace.hpp"

#include <gtest/gtest.h>

#include <random>

#include "unit/formats/chakra_writer.hpp"

namespace isleway::formats {
namespace {

using Kind = TraceNode::Kind;

std::string small_trace() {
  ChakraWriter writer;
  writer.metadata("0.0.4");
  writer.node(7, "gemm", 4, {}, 120);
  writer.node(9, "grads", 7, {7}, 0, {{"comm_type", 0}, {"comm_size", 1 << 20}}, "dp");
  writer.node(10, "to next", 5, {7, 9}, 0, {{"comm_dst", 1}, {"comm_size", 4096}, {"comm_tag", 3}});
  return writer.data();
}

TEST(ExecutionTrace, IsRead) {
  const auto trace = read_execution_trace(small_trace(), "a.0.et").value();
  EXPECT_EQ(trace.version, "0.0.4");
  ASSERT_EQ(trace.nodes.size(), 3U);
  EXPECT_EQ(trace.nodes[0].kind, Kind::compute);
  EXPECT_EQ(trace.nodes[0].duration_us, 120U);
  EXPECT_EQ(trace.nodes[1].kind, Kind::collective);
  EXPECT_EQ(trace.nodes[1].collective, TraceNode::Collective::all_reduce);
  EXPECT_EQ(trace.nodes[1].bytes, 1 << 20);
  EXPECT_EQ(trace.nodes[1].group, "dp");
  EXPECT_EQ(trace.nodes[1].after, std::vector<std::uint64_t>{7});
  EXPECT_EQ(trace.nodes[2].kind, Kind::send);
  EXPECT_EQ(trace.nodes[2].target, 1);
  EXPECT_EQ(trace.nodes[2].tag, 3);
}

TEST(ExecutionTrace, WithoutMetadataIsRead) {
  ChakraWriter writer;
  writer.node(1, "a", 4, {}, 5);
  EXPECT_EQ(read_execution_trace(writer.data(), "a.et").value().nodes.size(), 1U);
}

TEST(ExecutionTrace, CutOffSaysWhere) {
  const std::string whole = small_trace();
  const auto cut = read_execution_trace(whole.substr(0, whole.size() - 3), "a.et");
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().what.find("ends too early at byte"), std::string::npos);
}

TEST(ExecutionTrace, OfAnotherFormatIsAnError) {
  EXPECT_FALSE(read_execution_trace("", "a.et"));
  EXPECT_FALSE(read_execution_trace("{\"nodes\": []}", "a.et"));
  EXPECT_FALSE(read_execution_trace(std::string(100, '\0'), "a.et"));
  EXPECT_FALSE(read_execution_trace(std::string(100, '\xff'), "a.et"));
}

TEST(ExecutionTrace, SurvivesDamage) {
  const std::string whole = small_trace();
  std::mt19937_64 random(2);
  for (int i = 0; i < 5000; ++i) {
    std::string data = whole;
    for (std::uint64_t n = 1 + random() % 3; n-- > 0;)
      data[random() % data.size()] = static_cast<char>(random());
    const auto read = read_execution_trace(data, "a.et");
    if (!read) {
      EXPECT_FALSE(read.error().what.empty());
    }
  }
}

}  // namespace
}  // namespace isleway::formats
