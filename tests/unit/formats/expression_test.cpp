#include "formats/expression.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "formats/index_list.hpp"

namespace isleway::formats {
namespace {

TEST(Expression, NamesAndCounts) {
  const auto terms = parse_expression("dgx-h100*16 + dgx-a100").value();
  ASSERT_EQ(terms.size(), 2u);
  EXPECT_EQ(terms[0].name, "dgx-h100");
  EXPECT_EQ(terms[0].count, 16u);
  EXPECT_EQ(terms[1].name, "dgx-a100");
  EXPECT_EQ(terms[1].count, 1u);
  EXPECT_FALSE(terms[0].is_file);
}

TEST(Expression, FilesMayHoldPlusAndStar) {
  const auto folder = std::filesystem::temp_directory_path() / "isleway+expression*test";
  std::filesystem::create_directories(folder);
  const std::string file = folder / "a+b*2.txt";
  std::ofstream(file) << "x";
  for (const auto& [text, count] : {std::pair{file, 1u}, std::pair{file + "*4", 4u}}) {
    const auto terms = parse_expression(text).value();
    ASSERT_EQ(terms.size(), 1u) << text;
    EXPECT_EQ(terms[0].name, file);
    EXPECT_EQ(terms[0].count, count);
    EXPECT_TRUE(terms[0].is_file);
  }
  std::filesystem::remove_all(folder);
}

TEST(Expression, RefusesCountsThatAreNone) {
  for (const char* text :
       {"dgx-h100*0", "dgx-h100*-1", "dgx-h100*x", "dgx-h100*1000001", "*4", "", "a+"})
    EXPECT_FALSE(parse_expression(text)) << text;
}

TEST(Indices, ListsAndRanges) {
  EXPECT_EQ(parse_indices("0,1,4", "--gpus").value(), (std::vector<int>{0, 1, 4}));
  EXPECT_EQ(parse_indices("6,0-2", "--gpus").value(), (std::vector<int>{6, 0, 1, 2}));
}

TEST(Indices, RefusesWhatIsNoIndex) {
  for (const char* text : {"", "a", "-1", "3-1", "1,,2", "0-99999999999", "4096", "1,1", "0-2,1"})
    EXPECT_FALSE(parse_indices(text, "--gpus")) << text;
}

}  // namespace
}  // namespace isleway::formats
