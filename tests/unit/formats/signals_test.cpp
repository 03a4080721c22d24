// Each file of tests/unit/formats/signals: what operators paste, and the facts that it states.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "isleway/core/file.hpp"
#include "isleway/core/text.hpp"
#include "isleway/formats/read_signals.hpp"

namespace isleway::formats {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(ISLEWAY_SOURCE_DIR) / "tests/unit/formats/signals";

std::vector<std::string> fixtures() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string text_of(const std::string& name, const char* extension) {
  const auto content = read_file(kFolder / (name + extension));
  return content ? *content : std::string();
}

std::string shown(const std::variant<double, std::string>& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return '"' + *text + '"';
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.10g", std::get<double>(value));
  return buffer;
}

/// "3 gn041 nvlink.rate_GBs gpu0/link0 -> peer = 26.562", notices behind.
std::string shown(const SignalsRead& read) {
  std::string out;
  for (const Signal& one : read.signals) {
    out += std::to_string(one.where.line) + ' ' + (one.node.empty() ? "-" : one.node) + ' ' +
           one.name + (one.subject.empty() ? "" : ' ' + one.subject) +
           (one.peer.empty() ? "" : " -> " + one.peer) + " = " + shown(one.value) + '\n';
  }
  for (const Notice& notice : read.notices)
    out +=
        std::to_string(notice.where.line) + " " + name_of(notice.kind) + ": " + notice.text + '\n';
  return out;
}

class SignalFixture : public testing::TestWithParam<std::string> {};

TEST_P(SignalFixture, StatesWhatIsExpected) {
  EXPECT_EQ(shown(read_signals(text_of(GetParam(), ".txt"), GetParam() + ".txt")),
            text_of(GetParam(), ".expected"));
}

TEST_P(SignalFixture, QuotesTheLineThatItNames) {
  const std::string text = text_of(GetParam(), ".txt");
  const auto lines = split_lines(text);
  for (const Signal& one : read_signals(text, "x").signals) {
    ASSERT_GE(one.where.line, 1) << one.name;
    ASSERT_LE(static_cast<std::size_t>(one.where.line), lines.size()) << one.name;
    const std::string original(lines[static_cast<std::size_t>(one.where.line) - 1]);
    EXPECT_EQ(one.quote, trim(strip_terminal_codes(original))) << one.name;
    // What is stated stands there, unless it is counted or concluded.
    const auto* value = std::get_if<std::string>(&one.value);
    if (value && (one.name == "gpu.uuid" || one.name == "xid.text" || one.name == "pcie.acs")) {
      EXPECT_NE(one.quote.find(*value), std::string::npos) << one.name << ' ' << one.quote;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SignalFixture, testing::ValuesIn(fixtures()), [](const auto& one) {
  std::string name = one.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// Cut, doubled, shuffled lines and flipped bytes.
std::string damaged(std::string text, std::mt19937& random) {
  const auto pick = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n)(random);
  };
  if (text.empty()) return text;
  std::vector<std::string> lines;
  for (const auto line : split_lines(text)) lines.emplace_back(line);
  switch (pick(4)) {
    case 0: return text.substr(0, pick(text.size()));
    case 1: std::shuffle(lines.begin(), lines.end(), random); break;
    case 2: lines.insert(lines.end(), lines.begin(), lines.end()); break;
    case 3:
      for (std::size_t i = 0; i < 1 + text.size() / 50; ++i)
        text[pick(text.size() - 1)] = static_cast<char>(pick(255));
      return text;
    default:
      for (std::size_t i = 0; i < 3; ++i) {
        std::string& line = lines[pick(lines.size() - 1)];
        line = line.substr(0, pick(line.size()));
      }
  }
  std::string out;
  for (const std::string& line : lines) out += line + '\n';
  return out;
}

RC_GTEST_PROP(Signals, SurviveDamage, ()) {
  static const std::vector<std::string> names = fixtures();
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  const auto& name = names[*rc::gen::inRange<std::size_t>(0, names.size())];
  std::string text = text_of(name, ".txt");
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) text = damaged(std::move(text), random);
  const auto lines = static_cast<int>(split_lines(text).size());
  const SignalsRead read = read_signals(text, "x");
  for (const Signal& one : read.signals) {
    RC_ASSERT(!one.name.empty());
    RC_ASSERT(one.where.line >= 0 && one.where.line <= std::max(lines, 1));
  }
  for (const Notice& notice : read.notices) RC_ASSERT(!notice.text.empty());
}

/// All of them at once, each behind a prompt, read as each alone.
TEST(Signals, OfAMixedPasteAreThoseOfItsParts) {
  std::string mixed;
  std::size_t count = 0;
  for (const char* name : {"lspci", "smi-query", "kernel-log", "ib-links", "nvlink-status"}) {
    mixed += "root@gn041:~# cat " + std::string(name) + ".log\n" + text_of(name, ".txt");
    for (const Signal& one : read_signals(text_of(name, ".txt"), "x").signals)
      count += one.name != "command.run" ? 1 : 0;
  }
  std::size_t mixed_count = 0;
  for (const Signal& one : read_signals(mixed, "x").signals)
    mixed_count += one.name != "command.run" ? 1 : 0;
  // Prompts that are followed by another one have no output, which is said.
  EXPECT_GE(mixed_count, count);
  EXPECT_LE(mixed_count, count + 5);
}

std::string node_of(const std::string& text, const std::string& file) {
  const SignalsRead read = read_signals(text, file);
  return read.nodes.size() == 1 ? read.nodes[0] : std::to_string(read.nodes.size()) + " nodes";
}

TEST(Signals, FindTheNode) {
  const std::string link = "GPU 0: NVIDIA B200 (UUID: GPU-1)\n\t Link 0: 50 GB/s\n";
  EXPECT_EQ(node_of("me@cn7:~$ nvidia-smi nvlink -s\n" + link, "x.txt"), "cn7");
  EXPECT_EQ(node_of("[me@cn8.example.org tmp]# nvidia-smi nvlink -s\n" + link, "x.txt"), "cn8");
  EXPECT_EQ(node_of("cn9:~ # nvidia-smi nvlink -s\n" + link, "x.txt"), "cn9");
  EXPECT_EQ(node_of("$ ssh cn10 nvidia-smi nvlink -s\n" + link, "x.txt"), "cn10");
  EXPECT_EQ(node_of("===== cn11 =====\n" + link, "x.txt"), "cn11");
  EXPECT_EQ(node_of("cn12 | CHANGED | rc=0 >>\n" + link, "x.txt"), "cn12");
  EXPECT_EQ(node_of(link, "cluster/node13/nvlink.txt"), "node13");
  EXPECT_EQ(node_of(link, "nvlink-node14.txt"), "node14");
  EXPECT_EQ(node_of(link, "nvlink-h100.txt"), "0 nodes");
  EXPECT_EQ(node_of("==> cn15/nvlink.txt <==\n" + link, "x.txt"), "cn15");
  EXPECT_EQ(
      node_of("Mar  3 10:20:41 cn16 kernel: NVRM: Xid (PCI:0000:86:00): 31, x\n" + link, "x.txt"),
      "cn16");
}

TEST(Signals, OfDamagedPastes) {
  const std::string plain =
      "GPU 0: NVIDIA B200 (UUID: GPU-1)\n\t Link 0: 50 GB/s\n\t Link 1: <inactive>\n"
      "\t Link 2: 50 GB/s\n";
  const std::size_t expected = read_signals(plain, "x").signals.size();
  const auto changed = [&](const std::string& before, const std::string& after) {
    std::string text;
    int number = 0;
    for (const auto line : split_lines(plain)) {
      std::string prefix = before;
      if (const auto hash = prefix.find('#'); hash != std::string::npos)
        prefix.replace(hash, 1, std::to_string(++number));
      text += prefix + std::string(line) + after + '\n';
    }
    return read_signals(text, "x").signals.size();
  };
  EXPECT_EQ(changed("> ", ""), expected);
  EXPECT_EQ(changed("> > ", ""), expected);
  EXPECT_EQ(changed("   #  ", ""), expected);
  EXPECT_EQ(changed("#: ", ""), expected);
  EXPECT_EQ(changed("", "\r"), expected);
  EXPECT_EQ(changed("", "        "), expected);
  EXPECT_EQ(changed("\x1b[1m", "\x1b[0m"), expected);
  EXPECT_EQ(changed("cn1: ", ""), expected);
  EXPECT_EQ(changed("2025-03-03T10:12:13.123Z ", ""), expected);
  std::string utf16 = "\xff\xfe";
  for (const char c : plain) utf16 += std::string{c, '\0'};
  EXPECT_EQ(read_signals(utf16, "x").signals.size(), expected);
}

TEST(Signals, OfHostsThatPrintedTheSame) {
  const SignalsRead read = read_signals(text_of("dshbak", ".txt"), "x");
  EXPECT_EQ(read.nodes, (std::vector<std::string>{"cn1", "cn2", "cn3"}));
}

TEST(Signals, OfWhatIsMissing) {
  const auto read = read_signals({fs::path("/no/such/file")});
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().text().find("/no/such/file"), std::string::npos);
  const SignalsRead empty = read_signals("  \n", "x");
  ASSERT_EQ(empty.signals.size(), 1u);
  EXPECT_EQ(empty.signals[0].name, "output.empty");
  EXPECT_FALSE(read_signals("Dear all, see attached.\n", "x").notices.empty());
}

}  // namespace
}  // namespace isleway::formats
