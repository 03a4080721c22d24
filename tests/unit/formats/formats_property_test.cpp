// Readers against damage, and NCCL's XML against itself.
#include <gtest/gtest.h>  // before rapidcheck, which relies on it
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <map>

#include "isleway/core/file.hpp"
#include "unit/formats/reading.hpp"

namespace isleway::formats {
extern const Reader nccl_xml_reader;

namespace {

/// The fuzzers' seeds, by reader.
const std::vector<std::string>& seeds() {
  static const std::vector<std::string> all = [] {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::string(ISLEWAY_SOURCE_DIR) + "/fuzz/corpus"))
      if (entry.is_regular_file()) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<std::string> texts;
    for (const auto& file : files) texts.push_back(read_file(file).value());
    return texts;
  }();
  return all;
}

/// A text after a few of the things that happen to texts.
std::string damaged(std::string text) {
  const int wounds = *rc::gen::inRange(1, 5);
  for (int i = 0; i < wounds && !text.empty(); ++i) {
    const std::size_t at = *rc::gen::inRange<std::size_t>(0, text.size());
    const std::size_t length =
        *rc::gen::inRange<std::size_t>(0, std::min<std::size_t>(text.size() - at, 200) + 1);
    switch (*rc::gen::inRange(0, 5)) {
      case 0: text.erase(at); break;
      case 1: text.erase(at, length); break;
      case 2:
        text.insert(*rc::gen::inRange<std::size_t>(0, text.size()), text.substr(at, length));
        break;
      case 3: text[at] = *rc::gen::arbitrary<char>(); break;
      case 4:
        text.insert(at, *rc::gen::element<std::string>("99999999999", "-1", "<", "\"", "&", "]",
                                                       "\n", "\xff", "0x"));
        break;
    }
  }
  return text;
}

RC_GTEST_PROP(Readers, AnswerToDamageWithADocumentOrAReason, ()) {
  const std::string text = damaged(*rc::gen::elementOf(seeds()));
  for (const Reader* reader : readers()) {
    const int certainty = reader->recognise(text);
    RC_ASSERT(certainty >= 0 && certainty <= 100);
    const auto document = reader->read(text, context_for());
    RC_ASSERT(document || !document.error().what.empty());
  }
}

TEST(Readers, DoNotRecogniseProse) {
  for (const Reader* reader : readers()) {
    EXPECT_EQ(reader->recognise(""), 0) << reader->name;
    EXPECT_EQ(reader->recognise("GPU0 is fast.\nThe fox jumps: over it.\n"), 0) << reader->name;
  }
}

/// A random machine as an NCCL file: every kind of wiring, many attributes left out.
std::string random_system() {
  const auto chance = [](int percent) { return *rc::gen::inRange(0, 100) < percent; };
  const auto number = [](int least, int most) {
    return std::to_string(*rc::gen::inRange(least, most + 1));
  };
  const int cpus = *rc::gen::inRange(1, 4);
  const int gpus = *rc::gen::inRange(0, 9);
  const int nics = *rc::gen::inRange(0, 5);
  const auto address = [](int device) { return "0000:" + std::to_string(10 + device) + ":00.0"; };
  const auto speed = [&] {
    return chance(80)
               ? " link_speed=\"" +
                     *rc::gen::element<std::string>("8.0 GT/s PCIe", "16 GT/s", "32.0 GT/s PCIe") +
                     "\" link_width=\"" + *rc::gen::element<std::string>("0", "8", "16") + "\""
               : "";
  };
  const std::string sm = *rc::gen::element<std::string>("70", "80", "90", "100");
  std::map<std::pair<int, int>, std::string> mesh;  // links of both directions agree
  for (int a = 0; a < gpus; ++a)
    for (int b = a + 1; b < gpus; ++b)
      if (chance(30)) mesh[{a, b}] = number(1, 4);
  std::vector<std::string> places(static_cast<std::size_t>(cpus));
  const auto place = [&](const std::string& device, int id) {
    std::string& cpu = places[static_cast<std::size_t>(*rc::gen::inRange(0, cpus))];
    cpu += chance(50) ? device
                      : "<pci busid=\"0000:" + std::to_string(50 + id) +
                            ":00.0\" class=\"0x060400\"" + speed() + ">" + device + "</pci>";
  };
  for (int i = 0; i < gpus; ++i) {
    std::string links;
    for (const auto& [pair, count] : mesh)
      if (pair.first == i || pair.second == i)
        links += "<nvlink target=\"" + address(pair.first == i ? pair.second : pair.first) +
                 "\" count=\"" + count + "\" tclass=\"0x030200\"/>";
    for (int chip = 0; chip < 2; ++chip)
      if (chance(30))
        links += "<nvlink target=\"0000:c" + std::to_string(chip) + ":00.0\" count=\"" +
                 number(1, 9) + "\" tclass=\"0x068000\"/>";
    if (chance(20))
      links += "<c2c bw=\"" + number(1000, 50000) + "\" count=\"" + number(1, 5) + "\"/>";
    place("<pci busid=\"" + address(i) + "\" class=\"0x030200\"" +
              (chance(50) ? " vendor=\"0x10de\" device=\"0x20b2\"" : "") + speed() + ">" +
              (chance(80) ? "<gpu dev=\"" + std::to_string(i) + "\" sm=\"" + sm + "\" gdr=\"" +
                                number(0, 1) + "\">" + links + "</gpu>"
                          : "") +
              "</pci>",
          i);
  }
  for (int i = 0; i < nics; ++i)
    place("<pci busid=\"" + address(20 + i) + "\" class=\"0x020700\"" + speed() + ">" +
              (chance(80) ? "<nic><net name=\"mlx5_" + std::to_string(i) + "\" dev=\"" +
                                std::to_string(i) + "\"" +
                                (chance(70) ? " speed=\"" + number(1000, 800000) + "\"" : "") +
                                (chance(30) ? " latency=\"1." + number(0, 999999) + "\"" : "") +
                                (chance(30) ? " coll=\"1\"" : "") + "/></nic>"
                          : "") +
              "</pci>",
          20 + i);
  std::string text = "<system version=\"1\">";
  for (int i = 0; i < cpus; ++i)
    text += "<cpu numaid=\"" + std::to_string(i) + "\"" +
            (chance(50) ? " vendor=\"AuthenticAMD\" familyid=\"143\" modelid=\"49\"" : "") +
            (chance(20) ? " arch=\"arm64\"" : "") + ">" + places[static_cast<std::size_t>(i)] +
            "</cpu>";
  return text + "</system>";
}

RC_GTEST_PROP(NcclXml, WhatWasReadIsWrittenAndReadAlike, ()) {
  const std::string text = random_system();
  const auto first = machine(nccl_xml_reader, text);
  const std::string xml = written("nccl-xml", first);
  const auto second = machine(nccl_xml_reader, xml);
  RC_LOG() << text << "\n" << xml;
  RC_ASSERT(written("nccl-xml", second) == xml);
  RC_ASSERT(written("json", second) == written("json", first));
}

}  // namespace
}  // namespace isleway::formats
