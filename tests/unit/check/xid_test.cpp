#include "unit/check/signals.hpp"

namespace isleway::check {
namespace {

class XidTest : public CheckTest {
 protected:
  void say_xid(const std::string& device, int code, int caused_by = 0,
               const std::string& severity = {}) {
    const int line = ++line_;
    const auto add = [&](const char* name, std::variant<double, std::string> value) {
      signals_.push_back({name, device, "", std::move(value), "", {"dmesg", line, 0}, "Xid"});
    };
    add("xid.code", double(code));
    if (caused_by > 0) add("xid.caused_by", double(caused_by));
    if (!severity.empty()) add("xid.severity", severity);
  }
  int line_ = 0;
};

TEST_F(XidTest, TheFirstErrorIsTheCause) {
  say_xid("0000:dc:00.0", 149, 0, "Fatal");
  say_xid("0000:97:00.0", 145, 0, "Fatal");
  say_xid("0000:97:00.0", 45);
  const Report report = find();
  const Finding* critical = finding(report, "xid-critical");
  ASSERT_TRUE(critical);
  EXPECT_EQ(critical->subjects, std::vector<std::string>{"0000:dc:00.0"});
  const Finding* victim = finding(report, "xid-victim");
  ASSERT_TRUE(victim);
  EXPECT_EQ(victim->subjects, std::vector<std::string>{"0000:97:00.0"});
  EXPECT_FALSE(victim->follows_from.empty());
}

TEST_F(XidTest, TheCauseMayOnlyBeNamed) {
  say_xid("0000:dc:00.0", 45, 149);
  say_xid("0000:ed:00.0", 45, 145);
  say_xid("0000:ba:00.0", 45, 145);
  const Report report = find();
  const Finding* root = finding(report, "xid-root");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->subjects, std::vector<std::string>{"0000:dc:00.0"});
}

TEST_F(XidTest, MessagesThatAreNotFatalWarn) {
  say_xid("0008:01:00.0", 149, 0, "Nonfatal");
  EXPECT_TRUE(finding(find(), "xid-warning"));
}

TEST_F(XidTest, ProgramsCauseSome) {
  say_xid("0000:01:00.0", 31);
  const Report report = find();
  EXPECT_TRUE(finding(report, "xid-application"));
  EXPECT_EQ(report.verdict(), Severity::good);
}

TEST_F(XidTest, NumbersThatNobodyKnowsWarn) {
  say_xid("0000:01:00.0", 999);
  const Report report = find();
  ASSERT_TRUE(finding(report, "xid-warning"));
}

}  // namespace
}  // namespace isleway::check
