// What a machine file may get wrong, and that nothing in one can do harm.
#include <gtest/gtest.h>

#include <random>

#include "isleway/core/file.hpp"
#include "isleway/fabric/catalogue.hpp"

namespace isleway {
namespace {

const Catalogue& catalogue() {
  static const Catalogue all = *Catalogue::open(ISLEWAY_SOURCE_DIR "/machines");
  return all;
}

constexpr const char* kMachine =
    "name: mine\n"
    "sources: {spec: \"https://example.com/spec\"}\n"
    "source: spec\n"
    "cpus: {part: xeon-sapphire, sockets: 2, cores: 32}\n"
    "gpus: {part: h100-sxm, count: 4}\n"
    "nics: {part: cx7-ndr, names: mlx5_0..1}\n"
    "pcie:\n"
    "  cpu0: [[gpu0, mlx5_0], gpu1]\n"
    "  cpu1: [[gpu2, mlx5_1], [uplink gen4 x8, gpu3 gen4 x8]]\n"
    "nvlink:\n"
    "  switches: {part: nvswitch3, count: 2, links: [10, 8]}\n";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(MachineFile, TheExampleIsRight) {
  const auto unit = catalogue().unit_from_yaml(kMachine, "mine.yaml");
  ASSERT_TRUE(unit) << unit.error().text();
  EXPECT_EQ((*unit)->gpus().size(), 4u);
  EXPECT_EQ((*unit)->parts().source, "https://example.com/spec");
  for (const Link& link : (*unit)->links()) {
    if (link.kind != LinkKind::pcie) continue;
    const bool narrow = (*unit)->device(link.b).name == "GPU3";
    if ((*unit)->device(link.b).kind == DeviceKind::gpu) {
      EXPECT_EQ(link.lanes, narrow ? 8 : 16);
      EXPECT_EQ(link.generation, narrow ? 4 : 5);
    }
  }
}

/// The n-th block of YAML in docs/machines.md.
std::string documented(int n) {
  const std::string page = *read_file(ISLEWAY_SOURCE_DIR "/docs/machines.md");
  std::size_t at = 0;
  for (int i = 0; i <= n; ++i) at = page.find("```yaml\n", at) + 8;
  return page.substr(at, page.find("```", at) - at);
}

TEST(MachineFile, TheManualsExamplesAreRight) {
  const auto unit = catalogue().unit_from_yaml(documented(0), "docs/machines.md");
  ASSERT_TRUE(unit) << unit.error().text();
  EXPECT_EQ((*unit)->gpus().size(), 8u);
  EXPECT_EQ((*unit)->nics().size(), 5u);
  const auto plan = catalogue().network_from_yaml(documented(1), "docs/machines.md");
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->oversubscription, 2);
}

TEST(MachineFile, MistakesAreFoundAtTheirLine) {
  const struct {
    const char *from, *to;
    int line;
    const char* says;
  } mistakes[] = {
      {"name: mine", "nmae: mine", 1, "lacks 'name'"},
      {"source: spec", "sorce: spec", 3, "try: source"},
      {"source: spec", "source: spce", 3, "try: spec"},
      {"source: spec", "source: {spec: 1}", 3, "a text or a list"},
      {"[10, 8]", "{a: 10}", 11, "whole numbers"},
      {"[[gpu0, mlx5_0], gpu1]", "{a: gpu0}", 8, "is no list"},
      {"  switches: {part: nvswitch3, count: 2, links: [10, 8]}", "  bridges: {pairs: {a: 1}}", 11,
       "'pairs' is no list"},
      {"xeon-sapphire", "xeon-saphire", 4, "try: xeon-sapphire"},
      {"sockets: 2", "sokets: 2", 4, "try: sockets"},
      {"sockets: 2", "sockets: two", 4, "a whole number"},
      {"cores: 32", "cores: 32, cores: 48", 4, "given twice"},
      {"h100-sxm", "h100-smx", 5, "try: h100-sxm"},
      {"count: 4", "count: 0", 5, "1 to 256"},
      {"count: 4", "count: 5", 8, "'gpu4' is missing"},
      {"mlx5_0..1", "mlx5_1..0", 6, "no range"},
      {"mlx5_0..1", "mlx5_0..99999", 6, "no range"},
      {"mlx5_0..1", "[mlx5_0, mlx5_0]", 6, "two devices"},
      {"mlx5_0..1", "GPU1", 6, "two devices"},
      {"gpu1]", "gpu7]", 8, "GPU or NIC \"gpu7\""},
      {"gpu1]", "gpu0]", 8, "twice"},
      {"gpu1]", "gpu1 x99]", 8, "no place"},
      {"gpu1]", "{gpu1: 1}]", 8, "neither a device"},
      {"cpu1:", "cpu2:", 9, "key of 'pcie'"},
      {"nvswitch3", "nvswitch9", 11, "nvswitch"},
      {"count: 2,", "count: 3,", 11, "2 link counts for 3 switches"},
      {", links: [10, 8]", "", 11, "0 link counts for 2 switches"},
      {"[10, 8]", "[10, 9]", 11, "at most 18"},
      {"links: [10, 8]", "links: 10, baseboards: 2, trunks: 60", 11,
       "80 links into a switch that has 64"},
      {"switches: {", "switchs: {", 11, "one of switches, mesh"},
      {"  switches: {part: nvswitch3, count: 2, links: [10, 8]}", "  matrix: [[0, 1], [1, 0]]", 11,
       "4 rows"},
      {"  switches: {part: nvswitch3, count: 2, links: [10, 8]}",
       "  matrix: [[0, 1, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]", 11, "symmetric"},
      {"  switches: {part: nvswitch3, count: 2, links: [10, 8]}", "  bridges: {pairs: [[0, 4]]}",
       11, "two different GPUs of 0 to 3"},
      {"  switches: {part: nvswitch3, count: 2, links: [10, 8]}", "  mesh: 9", 11, "27 NVLinks"},
      {"pcie:\n", "pcie: [\n", 9, "valid YAML"},
  };
  for (const auto& mistake : mistakes) {
    SCOPED_TRACE(mistake.to);
    const auto unit =
        catalogue().unit_from_yaml(replaced(kMachine, mistake.from, mistake.to), "mine.yaml");
    ASSERT_FALSE(unit);
    const std::string text = unit.error().text();
    EXPECT_EQ(unit.error().where.file, "mine.yaml");
    EXPECT_NE(text.find(mistake.says), std::string::npos) << text;
    EXPECT_EQ(unit.error().where.line, mistake.line) << text;
  }
}

TEST(MachineFile, HostileFilesAreRefused) {
  std::string deep = "name: x\npcie: ";
  deep.append(100000, '[');
  std::string nested = "[gpu0]";
  for (int i = 0; i < 40; ++i) nested = "[" + nested + "]";
  const std::string hostile[] = {
      "",
      "[]",
      "just a text",
      std::string("\0\0\0", 3),
      "\xff\xfe\x00\x01",
      "a: &a [*a, *a]",
      "name: &a {name: *a}",
      deep,
      std::string(std::size_t{2} << 20, 'x'),
      replaced(kMachine, "[[gpu0, mlx5_0], gpu1]", nested),
      replaced(kMachine, "[[gpu0, mlx5_0], gpu1]", "&a [*a]"),
      replaced(kMachine, "name: mine", "name: mine\nhosts: 1000000000"),
      replaced(kMachine, "sockets: 2", "sockets: 64, numa_per_socket: 64"),
      replaced(replaced(kMachine, "name: mine", "name: mine\nhosts: 256"), "count: 4",
               "count: 200"),
      replaced(replaced(kMachine, "name: mine", "name: mine\nhosts: 256"),
               "switches: {part: nvswitch3, count: 2, links: [10, 8]}", "mesh: 1"),
      replaced(kMachine, "mlx5_0..1", "mlx5_9223372036854775806..9223372036854775807"),
      replaced(kMachine, "count: 2, links: [10, 8]", "count: 1024, links: 255"),
      // Each list names the one before it nine times: a billion GPUs when written out.
      replaced(kMachine, "  cpu0: [[gpu0, mlx5_0], gpu1]",
               "  cpu0: [&a [gpu0, gpu0, gpu0, gpu0], &b [*a, *a, *a, *a, *a, *a, *a, *a, *a],"
               " &c [*b, *b, *b, *b, *b, *b, *b, *b, *b], [*c, *c, *c, *c, *c, *c, *c, *c]]"),
  };
  for (const std::string& text : hostile) {
    const auto unit = catalogue().unit_from_yaml(text, "bad.yaml");
    ASSERT_FALSE(unit) << text.substr(0, 60);
    EXPECT_EQ(unit.error().where.file, "bad.yaml");
    EXPECT_FALSE(unit.error().what.empty());
  }
}

TEST(MachineFile, DamagedFilesGiveAMachineOrAReason) {
  std::vector<std::string> texts = {kMachine};
  for (const char* name : {"dgx-1-v100", "dgx-2", "gb300-tray", "a100-pcie-8", "aws-p5"})
    texts.push_back(*read_file(std::string(ISLEWAY_SOURCE_DIR "/machines/") + name + ".yaml"));
  const std::string words[] = {"0",  "-1", "99999999", "1e300", "[",    "]",     "{",    "}",
                               ":",  ": ", "\n",       "\n  ",  "\t",   "&a",    "*a",   "~",
                               "!!", "\"", "gpu0",     "x8",    "gen5", "..",    "null", "- ",
                               "? ", "|",  "\xc3",     "#",     "%",    "<<: *a"};
  std::mt19937 random(20260901);
  const auto below = [&](std::size_t n) { return std::size_t(random()) % n; };
  int machines = 0;
  for (int round = 0; round < 600; ++round) {
    std::string text = texts[below(texts.size())];
    for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
      const std::size_t at = below(text.size()), length = std::min(below(12), text.size() - at);
      switch (below(4)) {
        case 0: text.erase(at, length); break;
        case 1: text.insert(at, words[below(std::size(words))]); break;
        case 2: text.replace(at, length, words[below(std::size(words))]); break;
        case 3: text.resize(at + 1); break;
      }
    }
    const auto unit = catalogue().unit_from_yaml(text, "damaged.yaml");
    machines += unit.has_value();
    if (!unit) {
      EXPECT_FALSE(unit.error().what.empty()) << text;
      EXPECT_EQ(unit.error().where.file, "damaged.yaml") << text;
    }
  }
  EXPECT_GT(machines, 20) << "most damage should not be that bad";
}

TEST(NetworkFile, MistakesAreFoundAtTheirLine) {
  const std::string good = "name: mine\nshape: rail\nport_rate: 400Gbps\nswitch_latency: 130ns\n";
  ASSERT_TRUE(catalogue().network_from_yaml(good, "net.yaml"));
  const struct {
    const char *from, *to;
    int line;
    const char* says;
  } mistakes[] = {
      {"rail", "rial", 2, "try: rail"},
      {"400Gbps", "400", 3, "\"400Gbps\""},
      {"400Gbps", "-1Gbps", 3, "a rate"},
      {"400Gbps", "1e99GB/s", 3, "a rate"},
      {"130ns", "130", 4, "a time"},
      {"port_rate", "portrate", 3, "try: port_rate"},
      {"shape: rail\n", "", 1, "lacks 'shape'"},
  };
  for (const auto& mistake : mistakes) {
    const auto plan =
        catalogue().network_from_yaml(replaced(good, mistake.from, mistake.to), "net.yaml");
    ASSERT_FALSE(plan) << mistake.to;
    EXPECT_EQ(plan.error().where.line, mistake.line) << plan.error().text();
    EXPECT_NE(plan.error().text().find(mistake.says), std::string::npos) << plan.error().text();
  }
}

}  // namespace
}  // namespace isleway
