#include <gtest/gtest.h>

#include "unit/formats/topo_fixtures.hpp"

namespace isleway::formats {
namespace {

TEST(TopoP2p, ReadsTheMatrixOfTheTool) {
  const std::string_view text =
      " \tGPU0\tGPU1\tGPU2\t\n"
      " GPU0\tX\tOK\tCNS\t\n"
      " GPU1\tOK\tX\tCNS\t\n"
      " GPU2\tCNS\tCNS\tX\t\n"
      "\nLegend:\n\n  X    = Self\n  OK   = Status Ok\n  CNS  = Chipset not supported\n";
  EXPECT_GE(topo_p2p_reader.recognise(text), 80);
  EXPECT_LT(topo_m_reader.recognise(text), topo_p2p_reader.recognise(text));
  const auto document = read_with(topo_p2p_reader, text);
  ASSERT_TRUE(document) << document.error().text();
  EXPECT_TRUE(document->notices.empty());
  const auto& table = std::get<P2pTable>(document->content);
  EXPECT_EQ(table.devices, (std::vector<std::string>{"GPU0", "GPU1", "GPU2"}));
  EXPECT_EQ(table.cells[1], (std::vector<std::string>{"OK", "X", "CNS"}));
}

TEST(TopoP2p, MissingCellsAreEmptyAndSaid) {
  const auto document = read_with(topo_p2p_reader,
                                  "   GPU0 GPU1 GPU2\n"
                                  "   GPU0 X NS NS\n"
                                  "   GPU1 NS X\n");
  ASSERT_TRUE(document) << document.error().text();
  const auto& table = std::get<P2pTable>(document->content);
  EXPECT_EQ(table.cells[1], (std::vector<std::string>{"NS", "X", ""}));
  EXPECT_EQ(table.cells[2], (std::vector<std::string>{"", "", ""}));
  EXPECT_TRUE(has_notice(*document, "4 cells"));
}

TEST(TopoP2p, DoesNotTakeOtherMatrices) {
  EXPECT_LT(topo_p2p_reader.recognise(kSwitchedServer), topo_m_reader.recognise(kSwitchedServer));
  const std::string_view lone = "\tGPU0\tCPU Affinity\nGPU0\t X \t0-7\n";
  EXPECT_LT(topo_p2p_reader.recognise(lone), topo_m_reader.recognise(lone));
  EXPECT_EQ(topo_p2p_reader.recognise("GPU 0: OK\nGPU 1: OK\n"), 0);
}

}  // namespace
}  // namespace isleway::formats
