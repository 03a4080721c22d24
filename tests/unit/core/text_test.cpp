#include <gtest/gtest.h>

#include "isleway/core.hpp"

namespace isleway {
namespace {

TEST(Text, SplitLinesTakesEveryLineEnd) {
  EXPECT_EQ(split_lines("a\nb\r\nc\rd"), (std::vector<std::string_view>{"a", "b", "c", "d"}));
  EXPECT_EQ(split_lines("a\n\n"), (std::vector<std::string_view>{"a", ""}));
  EXPECT_TRUE(split_lines("").empty());
}

TEST(Text, StripTerminalCodesAlsoWithoutTheEscapeCharacter) {
  EXPECT_EQ(strip_terminal_codes("\x1b[4mGPU0\x1b[0m\tGPU1"), "GPU0\tGPU1");
  EXPECT_EQ(strip_terminal_codes("[4mGPU0[0m"), "GPU0");
  EXPECT_EQ(strip_terminal_codes("Ring[0] a[1]"), "Ring[0] a[1]");
}

TEST(Text, ClosestNamesWhatWasMeant) {
  EXPECT_EQ(closest("dgx-h10", {"dgx-a100", "dgx-h100", "dgx-1"}), "dgx-h100");
  EXPECT_EQ(closest("zzzz", {"dgx-a100"}), "");
}

TEST(Error, AnUnknownNameSaysWhatWasMeant) {
  const Error error = fail_unknown("engine", "flwo", {"analytic", "flow"}).value();
  EXPECT_EQ(error.text(),
            "there is no engine \"flwo\"\n  expected: one of analytic, flow\n  try: flow");
}

TEST(Units, SizesAsNcclTestsTakesThem) {
  EXPECT_EQ(parse_size("8"), 8);
  EXPECT_EQ(parse_size("64K"), 65536);
  EXPECT_EQ(parse_size("1GiB"), 1 << 30);
  EXPECT_EQ(parse_size("1.5M"), 1572864);
  EXPECT_EQ(parse_size("x"), -1);
  EXPECT_EQ(size_text(Bytes(1536)), "1536");
  EXPECT_EQ(size_text(Bytes::mib(64)), "64M");
}

TEST(Units, TransferTimeRoundsUpAndNeverEndsAtNoRate) {
  EXPECT_EQ(transfer_time(Bytes(1), Rate::GBs(3)).ps(), 334);
  EXPECT_EQ(transfer_time(Bytes(1), Rate()), Time::max());
  EXPECT_EQ(transfer_time(Bytes(0), Rate()), Time());
}

}  // namespace
}  // namespace isleway
