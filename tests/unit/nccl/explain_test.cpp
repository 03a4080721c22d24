#include "isleway/nccl/explain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace isleway::nccl {
namespace {

const Catalogue& catalogue() {
  static const Catalogue all = [] {
    auto opened = Catalogue::open(std::string(ISLEWAY_SOURCE_DIR) + "/machines");
    if (!opened) throw std::runtime_error(opened.error().text());
    return *std::move(opened);
  }();
  return all;
}

struct Asked {
  Fabric fabric;
  Options options;
  std::unique_ptr<Engine> engine = make_analytic_engine();
  Explanation about(Collective collective, std::int64_t bytes) const {
    BenchCall call;
    call.collective = collective;
    const auto explanation = explain({fabric, catalogue().parts(), options, *engine, call, bytes});
    if (!explanation) throw std::runtime_error(explanation.error().text());
    return *explanation;
  }
};

Asked machine(const char* name, const char* network = "") {
  return {catalogue().fabric(name, network).value(), {}};
}

Time time_with(const Explanation& explanation, Improvement improvement) {
  const auto found =
      std::find_if(explanation.what_ifs.begin(), explanation.what_ifs.end(),
                   [&](const WhatIf& what_if) { return what_if.improvement == improvement; });
  return found == explanation.what_ifs.end() ? Time() : found->time;
}

TEST(Explain, HasTheChoiceAmongTheAlternatives) {
  const Explanation explanation = machine("dgx-h100").about(Collective::all_reduce, 64 << 20);
  const Decision& chosen = *explanation.chosen.decision;
  // By NCCL's estimate, so the choice comes first.
  const Alternative& first = explanation.alternatives.front();
  EXPECT_EQ(first.candidate.algorithm, chosen.algorithm);
  EXPECT_EQ(first.candidate.protocol, chosen.protocol);
  EXPECT_EQ(first.row->time, explanation.chosen.time);
  ASSERT_NE(explanation.fastest(), nullptr);
  EXPECT_LE(explanation.fastest()->row->time, explanation.chosen.time);
  for (const Alternative& one : explanation.alternatives)
    EXPECT_NE(one.candidate.estimate.has_value(), !one.candidate.why_not.empty());
}

TEST(Explain, NothingThatIsImprovedMakesACallSlower) {
  for (const char* name : {"dgx-a100", "v100-sxm2-4"})
    for (const std::int64_t bytes : {1 << 10, 1 << 28}) {
      const Explanation explanation = machine(name).about(Collective::all_gather, bytes);
      for (const WhatIf& what_if : explanation.what_ifs)
        EXPECT_LE(what_if.time, explanation.chosen.time) << name << " " << bytes;
      EXPECT_LE(time_with(explanation, Improvement::sibling_rates),
                time_with(explanation, Improvement::link_rate));
    }
}

TEST(Explain, TwiceTheBandwidthOfTheOneSlowLinkHelps) {
  Asked asked = machine("hgx-h100-4*2", "ndr400-rail");
  asked.fabric = with_fault(asked.fabric, "node0/nic0:rate=100").value();
  const Explanation explanation = asked.about(Collective::all_reduce, 1 << 30);
  EXPECT_EQ(explanation.chosen.bottleneck, "node0/mlx5_0-leaf0.0");
  EXPECT_LT(time_with(explanation, Improvement::link_rate), explanation.chosen.time);
}

TEST(Explain, ListsOnlySettingsThatMatterAndAreNotSet) {
  Asked asked = machine("dgx-h100");
  asked.options.env["NCCL_NVLS_ENABLE"] = "0";
  const Explanation explanation = asked.about(Collective::all_reduce, 1 << 30);
  EXPECT_NE(explanation.chosen.decision->algorithm, Algorithm::nvls);
  EXPECT_FALSE(explanation.settings.empty());
  for (const SettingEffect& effect : explanation.settings) {
    EXPECT_NE(effect.name, "NCCL_NVLS_ENABLE");
    EXPECT_NE(effect.name, "NCCL_PXN_DISABLE") << "a single node has no network";
  }
}

TEST(Explain, SendsAndReceivesHaveNoAlternatives) {
  const Explanation explanation = machine("dgx-a100").about(Collective::all_to_all, 1 << 24);
  EXPECT_TRUE(explanation.alternatives.empty());
  EXPECT_EQ(explanation.fastest(), nullptr);
}

TEST(Siblings, AreAllLinksBetweenTheSameKindsOfDevice) {
  const Fabric fabric = catalogue().fabric("dgx-h100*2", "ndr400-rail").value();
  const std::vector<LinkId> cables = siblings(fabric, fabric.first_cable() + 3);
  EXPECT_EQ(cables.size(), 16u);
  EXPECT_EQ(cables.front(), fabric.first_cable());
  for (LinkId link = 0; link < fabric.link_count(); ++link) {
    const std::vector<LinkId> alike = siblings(fabric, link);
    EXPECT_TRUE(std::binary_search(alike.begin(), alike.end(), link));
    EXPECT_EQ(siblings(fabric, alike.back()), alike);
  }
}

TEST(Siblings, ChangeTheirRateAloneOrTogether) {
  const Fabric fabric = catalogue().fabric("dgx-h100*2", "ndr400-rail").value();
  for (const LinkId link : {LinkId{0}, fabric.first_cable(), fabric.first_cable() - 1}) {
    for (const Scope scope : {Scope::alone, Scope::siblings}) {
      const auto faster = with_link_rate(fabric, link, scope, 2);
      ASSERT_TRUE(faster) << faster.error().text();
      const std::vector<LinkId> alike = siblings(fabric, link);
      for (LinkId other = 0; other < fabric.link_count(); ++other) {
        const bool changes = scope == Scope::alone
                                 ? other == link
                                 : std::binary_search(alike.begin(), alike.end(), other);
        EXPECT_DOUBLE_EQ(faster->link(other).rate().GBs(),
                         fabric.link(other).rate().GBs() * (changes ? 2 : 1));
      }
    }
  }
}

}  // namespace
}  // namespace isleway::nccl
