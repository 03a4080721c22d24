#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "isleway/core/text.hpp"
#include "unit/formats/topo_fixtures.hpp"
#include "unit/formats/topo_random.hpp"

namespace isleway::formats {
namespace {

using testing::RandomMachine;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split_lines(text)) lines.emplace_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

RC_GTEST_PROP(TopoProperty, WhatIsWrittenReadsAsTheSameMatrix, ()) {
  const std::string text = topo_m_of(RandomMachine().make());
  RC_ASSERT(topo_m_of(unit_of(text)) == text);
}

RC_GTEST_PROP(TopoProperty, BlanksAndPrefixesMakeNoDifference, ()) {
  const std::string text = topo_m_of(RandomMachine().make());
  const std::string indent =
      *rc::gen::element<std::string>("", "    ", "> ", "# ", "node-1: ", "[1,0]<stdout>:");
  const std::size_t width = *rc::gen::element<std::size_t>(0, 181);
  std::string mangled = "$ nvidia-smi topo -m\n";
  for (std::string line : lines_of(text)) {
    for (std::size_t tab; (tab = line.find('\t')) != std::string::npos;)
      line.replace(tab, 1, std::string(*rc::gen::inRange<std::size_t>(1, 9), ' '));
    if (line.size() < width) line.resize(width, ' ');
    mangled += indent + line + *rc::gen::element<std::string>("\n", "\r\n");
  }
  RC_ASSERT(topo_m_of(unit_of(mangled)) == text);
}

RC_GTEST_PROP(TopoProperty, RowsOfNicsAreNotNeeded, ()) {
  const std::string text = topo_m_of(RandomMachine().make());
  std::string gpus_only;
  for (const std::string& line : lines_of(text))
    if (line.rfind("NIC", 0) != 0) gpus_only += line + "\n";
  const auto whole = lines_of(text), again = lines_of(topo_m_of(unit_of(gpus_only)));
  for (std::size_t i = 0; i < whole.size() && whole[i].rfind("NIC", 0) != 0; ++i)
    RC_ASSERT(again[i] == whole[i]);
}

/// Drops, doubles, swaps and garbles lines, then cuts anywhere.
std::string damaged(std::string text) {
  auto lines = lines_of(text);
  const int edits = *rc::gen::inRange(0, 6);
  for (int i = 0; i < edits && !lines.empty(); ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, lines.size());
    const auto other = *rc::gen::inRange<std::size_t>(0, lines.size());
    switch (*rc::gen::inRange(0, 5)) {
      case 0: lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at)); break;
      case 1: lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(other), lines[at]); break;
      case 2: std::swap(lines[at], lines[other]); break;
      case 3:
        if (!lines[at].empty())
          lines[at][*rc::gen::inRange<std::size_t>(0, lines[at].size())] =
              *rc::gen::arbitrary<char>();
        break;
      default:
        lines[at].insert(*rc::gen::inRange<std::size_t>(0, lines[at].size() + 1),
                         *rc::gen::element<std::string>("\t", " X ", "NV99", "GPU7", "\n", "SYS\t",
                                                        "9999999999", "\x1b[4m", "0-8191"));
    }
  }
  text = joined(lines);
  text.resize(*rc::gen::inRange<std::size_t>(0, text.size() + 1));
  return text;
}

RC_GTEST_PROP(TopoProperty, DamageEndsInAMachineOrAReason, ()) {
  const std::string text = damaged(topo_m_of(RandomMachine().make()));
  topo_m_reader.recognise(text);
  const auto document = read_with(topo_m_reader, text);
  if (!document) {
    RC_ASSERT(!document.error().what.empty());
    return;
  }
  const auto unit = std::get<std::shared_ptr<const Unit>>(document->content);
  RC_ASSERT(!unit->devices().empty());
  topo_m_writer.write(Fabric::single(unit).value(), {});
}

RC_GTEST_PROP(TopoProperty, P2pSurvivesDamage, ()) {
  std::string text = "\tGPU0\tGPU1\tGPU2\t\n GPU0\tX\tOK\tNS\t\n GPU1\tOK\tX\tCNS\t\n";
  text = damaged(text);
  topo_p2p_reader.recognise(text);
  const auto document = read_with(topo_p2p_reader, text);
  if (!document) return;
  const auto& table = std::get<P2pTable>(document->content);
  for (const auto& row : table.cells) RC_ASSERT(row.size() == table.devices.size());
}

TEST(TopoProperty, AHeaderOfAThousandsDevicesIsRefusedInTime) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "\tGPU" + std::to_string(i);
  text += "\nGPU0\t X \n";
  const auto document = read_with(topo_m_reader, text);
  ASSERT_FALSE(document);
  EXPECT_NE(document.error().what.find("more than"), std::string::npos);
}

}  // namespace
}  // namespace isleway::formats
