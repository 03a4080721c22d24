// Outputs that are cut anywhere are judged without harm.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>

#include "isleway/core.hpp"
#include "isleway/formats/read_signals.hpp"
#include "unit/check/signals.hpp"

namespace isleway::check {
namespace {

namespace fs = std::filesystem;

class DamageTest : public CheckTest {};

std::vector<std::string> pastes() {
  std::vector<std::string> texts;
  for (const auto& entry : fs::directory_iterator(ISLEWAY_SOURCE_DIR "/tests/unit/formats/signals"))
    if (entry.path().extension() == ".txt") texts.push_back(read_file(entry.path()).value());
  std::sort(texts.begin(), texts.end());
  return texts;
}

RC_GTEST_FIXTURE_PROP(DamageTest, CutsAreJudged, ()) {
  static const std::vector<std::string> texts = pastes();
  const std::string& text = texts[*rc::gen::inRange<std::size_t>(0, texts.size())];
  const auto start = *rc::gen::inRange<std::size_t>(0, text.size());
  const auto length = *rc::gen::inRange<std::size_t>(0, text.size() - start + 1);
  signals_ = formats::read_signals(text.substr(start, length), "paste.txt").signals;
  name_nodes(signals_);
  for (const Finding& finding : find().findings) RC_ASSERT(!finding.title.empty());
}

TEST_F(DamageTest, RowsThatWereCutOffAreNoFault) {
  // The first half of a matrix: nothing is said of the GPUs below among themselves.
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 8; ++b)
      if (a != b) say("topo.link", "gpu" + std::to_string(a), "NV18", "gpu" + std::to_string(b));
  const Report report = find();
  EXPECT_EQ(finding(report, "mesh-pair-low"), nullptr);
  EXPECT_EQ(finding(report, "mesh-gpu-low"), nullptr);
}

}  // namespace
}  // namespace isleway::check
