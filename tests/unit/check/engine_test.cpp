#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "check/words.hpp"
#include "unit/check/signals.hpp"

namespace isleway::check {
namespace {

using EngineTest = CheckTest;

TEST(Words, ListsAreShort) {
  EXPECT_EQ(list_text({"GPU2", "GPU0", "GPU1", "GPU10"}), "GPU0-2, GPU10");
  EXPECT_EQ(list_text({"n001", "n002", "n003", "n005"}), "n001-003, n005");
  EXPECT_EQ(list_text({"a", "b", "c"}, 2), "a, b and 1 more");
  EXPECT_EQ(subject_text("gpu3/link12"), "GPU3 link 12");
  EXPECT_EQ(subject_text("mlx5_0/port1"), "mlx5_0 port1");
}

TEST(Words, Versions) {
  EXPECT_TRUE(is_older("535.9", "535.161.08"));
  EXPECT_TRUE(is_older("470", "470.82.01"));
  EXPECT_FALSE(is_older("580.65.06", "580.65.06"));
  EXPECT_FALSE(is_older("580.126.09", "580.65.06"));
}

TEST(Words, Patterns) {
  EXPECT_TRUE(is_like("NVIDIA H100 NVL", "*h100*nvl"));
  EXPECT_FALSE(is_like("NVIDIA H100", "*H100?"));
  EXPECT_TRUE(is_like("", "*"));
}

RC_GTEST_PROP(Words, EveryTextIsLikeItselfAndAStar, (const std::string& text)) {
  RC_PRE(text.find_first_of("*?") == std::string::npos);
  RC_ASSERT(is_like(text, text));
  RC_ASSERT(is_like(text, "*"));
  RC_ASSERT(is_like(text + "x", text + "?"));
}

RC_GTEST_PROP(Words, CountingIsAnOrder, (std::vector<std::string> names)) {
  std::sort(names.begin(), names.end(), counts_before);
  for (std::size_t i = 0; i + 1 < names.size(); ++i)
    RC_ASSERT(!counts_before(names[i + 1], names[i]));
}

TEST_F(EngineTest, UsersAddRulesAndReplaceOurs) {
  const char* text = R"(
rules:
  - id: house-rule
    severity: warning
    when: [{signal: driver.version, older_than: "570"}]
    title: "driver {value} is too old for this house"
  - id: mig-on
    severity: critical
    when: [{signal: mig.mode, is: Enabled}]
    title: no MIG here
)";
  ASSERT_TRUE(rules_.add(text, "house.yaml"));
  say("driver.version", "", "550.54.15");
  say("mig.mode", "gpu0", "Enabled");
  const Report report = find();
  ASSERT_TRUE(finding(report, "house-rule"));
  EXPECT_EQ(finding(report, "house-rule")->title, "driver 550.54.15 is too old for this house");
  EXPECT_EQ(finding(report, "mig-on")->severity, Severity::critical);
}

TEST_F(EngineTest, BadRulesAreErrorsAtTheirLine) {
  const auto unknown_key = rules_.add("rules:\n  - id: a\n    titel: b\n", "r.yaml");
  ASSERT_FALSE(unknown_key);
  EXPECT_EQ(unknown_key.error().where.file, "r.yaml");
  EXPECT_GT(unknown_key.error().where.line, 0);
  EXPECT_FALSE(rules_.add("rules: [{id: a, title: b}]", "r.yaml"));
  EXPECT_FALSE(
      rules_.add("rules: [{id: a, title: b, severity: bad, when: [{signal: x}]}]", "r.yaml"));
}

TEST_F(EngineTest, OneFindingForNodesThatSayTheSame) {
  for (const char* node : {"n1", "n2", "n3", "n10"})
    say("fm.event", "", "version mismatch", "", node);
  const Report report = find();
  const Finding* mismatch = finding(report, "fm-version-mismatch");
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->nodes, (std::vector<std::string>{"n1", "n2", "n3", "n10"}));
  EXPECT_EQ(report.nodes.size(), 4u);
}

TEST_F(EngineTest, CausesComeBeforeWhatFollows) {
  say("cuda.error", "", "802");
  say("fm.event", "", "version mismatch");
  const Report report = find();
  ASSERT_GE(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].rule, "fm-version-mismatch");
  EXPECT_EQ(finding(report, "cuda-802")->follows_from[0], "fm-version-mismatch");
}

TEST_F(EngineTest, NothingToJudgeIsUnknown) { EXPECT_EQ(find().verdict(), Severity::unknown); }

TEST_F(EngineTest, TheOddNodeOut) {
  for (int node = 0; node < 5; ++node)
    say("driver.version", "", node == 3 ? "570.1" : "580.65.06", "", "n" + std::to_string(node));
  const Report report = find();
  const Finding* odd = finding(report, "sister-warning");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->nodes, std::vector<std::string>{"n3"});
  EXPECT_TRUE(report.nodes[3].odd);
}

TEST_F(EngineTest, DriftAgainstASavedState) {
  say("driver.version", "", "570.1", "", "n1");
  say("nvlink.active", "gpu0", 18.0, "", "n1");
  const auto saved =
      Baseline::from_json(Baseline::of(signals_, rules_.profile).to_json(), "b.json").value();
  const auto against = [&] {
    return check(Input{signals_, {}}, {catalogue_, rules_, {}, saved, {}});
  };
  EXPECT_TRUE(finding(against(), "drift-none"));
  signals_[0].value = "580.2";
  signals_[1].value = 17.0;
  const Report report = against();
  ASSERT_TRUE(finding(report, "drift-critical"));
  EXPECT_NE(finding(report, "drift-critical")->title.find("17, was 18"), std::string::npos);
  EXPECT_TRUE(finding(report, "drift-note"));
}

TEST_F(EngineTest, GatesNeedAMeasurement) {
  const auto gate = Gate::from_yaml(R"(
roll_back: install driver 570
targets:
  - {name: large, measurement: bench.busbw_GBs, subject: all_reduce, bytes: 8G, at_least: 460}
  - {name: small, measurement: bench.time_us, subject: all_reduce, bytes: 8, at_most: 30}
  - {name: price, measurement: bench.algbw_GBs, subject: all_reduce, usd_per_hour: 98, per_GB: 1000, at_most: 0.2}
)",
                                    "g.yaml")
                        .value();
  say("bench.busbw_GBs", "all_reduce", 455.0, "8589934592");
  say("bench.algbw_GBs", "all_reduce", 260.0, "8589934592");
  const Report report = check(Input{signals_, {}}, {catalogue_, rules_, {}, {}, gate});
  ASSERT_TRUE(finding(report, "gate-failed"));
  EXPECT_NE(finding(report, "gate-failed")->action.find("install driver 570"), std::string::npos);
  EXPECT_TRUE(finding(report, "gate-not-measured"));
  EXPECT_TRUE(finding(report, "gate-passed"));
  EXPECT_EQ(report.verdict(), Severity::critical);
}

TEST_F(EngineTest, EveryRuleHasWhatItNeeds) {
  for (const Rule& rule : rules_.rules) {
    EXPECT_FALSE(rule.title.empty()) << rule.id;
    if (rule.severity == Severity::critical) {
      EXPECT_FALSE(rule.action.empty() && rule.id.find("sister") != 0 && rule.id.find("drift") != 0)
          << rule.id;
    }
    for (const std::string& id : rule.follows) {
      const bool known = std::any_of(rules_.rules.begin(), rules_.rules.end(),
                                     [&](const Rule& other) { return other.id == id; });
      EXPECT_TRUE(known) << rule.id << " follows " << id;
    }
  }
}

}  // namespace
}  // namespace isleway::check
