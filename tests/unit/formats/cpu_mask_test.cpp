#include "formats/cpu_mask.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace isleway::formats {
namespace {

TEST(CpuMask, ReadsWordsHighestFirst) {
  const auto mask = CpuMask::from_words("ff,0000000f");
  ASSERT_TRUE(mask);
  EXPECT_EQ(mask->ranges(), "0-3,32-39");
  EXPECT_EQ(mask->words(), "000000ff,0000000f");
}

TEST(CpuMask, ReadsShortWordsByValue) {
  EXPECT_EQ(CpuMask::from_words("fff0000,00000000")->ranges(), "48-59");
}

TEST(CpuMask, ReadsWhatHwlocWrites) {
  EXPECT_EQ(CpuMask::from_words("0x00000003,,0x00000001")->ranges(), "0,64-65");
}

TEST(CpuMask, LeavesOutZeroWordsInFront) {
  EXPECT_EQ(CpuMask::from_words("00000000,00000001")->words(), "00000001");
  EXPECT_EQ(CpuMask::from_words("00000000")->words(), "");
  EXPECT_EQ(CpuMask::from_words("")->words(), "");
}

TEST(CpuMask, RefusesWhatIsNoMask) {
  EXPECT_FALSE(CpuMask::from_words("xyz"));
  EXPECT_FALSE(CpuMask::from_words("1ffffffff"));
  EXPECT_FALSE(CpuMask::from_words("-1"));
  EXPECT_FALSE(CpuMask::from_words(std::string(100'000, ',')));
  EXPECT_FALSE(CpuMask::from_ranges("3-1"));
  EXPECT_FALSE(CpuMask::from_ranges("0-99999999999"));
  EXPECT_FALSE(CpuMask::from_ranges("0-"));
  EXPECT_FALSE(CpuMask::from_ranges("-3"));
  EXPECT_FALSE(CpuMask::from_ranges(""));
}

TEST(CpuMask, TellsOverlapAndUnion) {
  CpuMask low = *CpuMask::from_ranges("0-31");
  const CpuMask high = *CpuMask::from_ranges("32-40");
  EXPECT_FALSE(low.overlaps(high));
  low.add(high);
  EXPECT_TRUE(low.overlaps(high));
  EXPECT_EQ(low.ranges(), "0-40");
}

RC_GTEST_PROP(CpuMask, RangesAndWordsAgree, ()) {
  const auto words =
      *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::arbitrary<std::uint32_t>());
  RC_PRE(words.size() < 500);
  std::string text;
  for (const std::uint32_t word : words) {
    char buffer[16];
    std::snprintf(buffer, sizeof buffer, "%s%x", text.empty() ? "" : ",", word);
    text += buffer;
  }
  const auto mask = CpuMask::from_words(text);
  RC_ASSERT(mask.has_value());
  RC_ASSERT(mask->words().empty() == mask->ranges().empty());
  if (mask->empty()) return;
  RC_ASSERT(CpuMask::from_ranges(mask->ranges())->words() == mask->words());
  RC_ASSERT(CpuMask::from_words(mask->words())->words() == mask->words());
}

}  // namespace
}  // namespace isleway::formats
