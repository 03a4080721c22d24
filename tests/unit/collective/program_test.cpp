// Algorithms from files do what they claim, in any order, whatever a slot holds.
#include "isleway/collective/program.hpp"

#include <gtest/gtest.h>

#include "isleway/collective/checker.hpp"
#include "isleway/core/file.hpp"

namespace isleway {
namespace {

using formats::Algorithm;

Algorithm algorithm(const std::string& name) {
  const std::string file = std::string(ISLEWAY_SOURCE_DIR "/tests/cases/algorithms/") + name;
  return formats::read_algorithm(read_file(file).value(), name).value();
}

CollectiveCall call_of(const Algorithm& algorithm, std::int64_t bytes) {
  CollectiveCall call;
  call.collective = collective_of(algorithm).value();
  call.size = {program_size(algorithm, bytes), 4};
  call.ranks = algorithm.ranks;
  return call;
}

class Programs : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Files, Programs,
                         testing::Values("ring.xml", "all-pairs.xml", "put-all-gather.json",
                                         "read-all-reduce.json", "packets.json", "multimem.json",
                                         "pipeline.json"));

TEST_P(Programs, DoTheirCollective) {
  const Algorithm file = algorithm(GetParam());
  EXPECT_TRUE(prove_program(file)) << prove_program(file).error().text();
  // Chunks of one word, of uneven parts of a slot, and several to a slot.
  for (const std::int64_t words : {1, 3, 40, 9000}) {
    const CollectiveCall call = call_of(file, words * 16 * file.chunks);
    for (const std::int64_t slot : {16, 48, 4096}) {
      const auto program = make_program(file, call, slot);
      ASSERT_TRUE(program) << program.error().text();
      for (std::uint64_t order : {0, 7}) {
        const auto right = check_schedule(call, **program, file.in_place, 2, order);
        EXPECT_TRUE(right) << words << " words, slot " << slot << ": " << right.error().text();
      }
    }
  }
}

TEST_P(Programs, SayWhichTransfersWaitLongest) {
  const Algorithm file = algorithm(GetParam());
  const auto program = make_program(file, call_of(file, 1 << 20), 1 << 20).value();
  const auto path = program->critical_path();
  ASSERT_FALSE(path.empty());
  std::int64_t messages = 0;
  program->loads([&](const Load& load) { messages += load.messages; });
  EXPECT_LE(static_cast<std::int64_t>(path.size()), messages);
  for (std::size_t i = 0; i < path.size(); ++i) {
    EXPECT_NE(path[i].from.agent, path[i].to.agent);
    if (i > 0) {
      EXPECT_EQ(path[i - 1].to.agent, path[i].from.agent);
    }
  }
}

TEST(Program, OfARingHasItsLengthInHops) {
  const Algorithm file = algorithm("ring.xml");
  const auto program = make_program(file, call_of(file, 1 << 20), 1 << 20).value();
  EXPECT_EQ(program->critical_path().size(), 2U * (4 - 1));
}

TEST(Program, RepeatsItsRoundsWhereAChunkIsMoreThanASlot) {
  const Algorithm file = algorithm("ring.xml");
  const auto program = make_program(file, call_of(file, 4 << 20), 64 << 10).value();
  const Loop loop = program->loop({0, 0});
  EXPECT_EQ(loop.count, 16);
  EXPECT_EQ(program->action_count({0, 0}), loop.length * 16);
}

TEST(Program, ThatIsWrongIsFoundOut) {
  std::string text = read_file(ISLEWAY_SOURCE_DIR "/tests/cases/algorithms/ring.xml").value();
  // One rank passes on what it received without adding its own.
  text.replace(text.find("rrs"), 3, "rcs");
  const auto file = formats::read_algorithm(text, "wrong.xml").value();
  const auto proved = prove_program(file);
  ASSERT_FALSE(proved);
  EXPECT_NE(proved.error().what.find("ring_of_four does not do all_reduce"), std::string::npos)
      << proved.error().text();
}

TEST(Program, OutsideItsMemoryIsAnError) {
  std::string text = read_file(ISLEWAY_SOURCE_DIR "/tests/cases/algorithms/ring.xml").value();
  text.replace(text.find("srcoff=\"0\""), 10, "srcoff=\"9\"");
  const auto proved = prove_program(formats::read_algorithm(text, "wrong.xml").value());
  ASSERT_FALSE(proved);
  EXPECT_EQ(proved.error().where.line, 4);
}

TEST(Program, OfOtherRanksIsAnError) {
  const Algorithm file = algorithm("ring.xml");
  CollectiveCall call = call_of(file, 1 << 20);
  call.ranks = 8;
  EXPECT_FALSE(make_program(file, call, 1 << 20));
}

}  // namespace
}  // namespace isleway
