#include "unit/formats/reading.hpp"

namespace isleway::formats {
namespace {

constexpr std::string_view kXml =
    R"(<system version="1"><cpu numaid="0"><pci busid="0000:01:00.0" class="0x030200" device="0x26b9"><gpu dev="0" sm="89"/></pci></cpu></system>)";
constexpr std::string_view kLog =
    "n:1:1 [0] NCCL INFO === System : maxBw 24.0 totalBw 24.0 ===\n"
    "n:1:1 [0] NCCL INFO CPU/0 (1/2/-1)\n"
    "n:1:1 [0] NCCL INFO + PCI[24.0] - GPU/81000 (0)\n"
    "n:1:1 [0] NCCL INFO + PCI[24.0] - GPU/82000 (1)\n"
    "n:1:1 [0] NCCL INFO ==========================================\n";
constexpr std::string_view kTable =
    "#                                                              out-of-place                   "
    "    in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time "
    "  algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us) "
    " (GB/s)  (GB/s)\n"
    "     1048576        262144     float     sum      -1    20.00   52.43   91.75      0    20.00 "
    "  52.43   91.75      0\n";

Error refusal(std::string_view text) {
  const auto document = read(text, context_for());
  EXPECT_FALSE(document) << document->format;
  return document ? Error{} : document.error();
}

TEST(Formats, PicksTheReaderByContent) {
  EXPECT_EQ(read(kXml, context_for())->format, "nccl-xml");
  EXPECT_EQ(read(kLog, context_for())->format, "nccl-log");
  EXPECT_EQ(read("<topology><object type=\"Machine\"/></topology>", context_for())->format,
            "hwloc");
}

TEST(Formats, OfSeveralOutputsTheFirstIsRead) {
  const std::string log_first = std::string(kLog) + std::string(kXml);
  const auto document = read(log_first, context_for());
  ASSERT_TRUE(document);
  EXPECT_EQ(document->format, "nccl-log");
  EXPECT_TRUE(has_notice(*document, "topology file"));
  EXPECT_EQ(read(std::string(kXml) + "\n" + std::string(kLog), context_for())->format, "nccl-xml");
}

TEST(Formats, WhatIsWantedIsRead) {
  const std::string both = std::string(kTable) + std::string(kLog);
  ReadContext context = context_for();
  context.want = ReadContext::Want::machine;
  ASSERT_TRUE(read(both, context));
  EXPECT_EQ(read(both, context)->format, "nccl-log");
  context.want = ReadContext::Want::measurements;
  EXPECT_TRUE(std::holds_alternative<NcclTestsTables>(read(both, context)->content));
}

TEST(Formats, WhatCannotBeReadGivesWayToWhatCan) {
  const auto document =
      read("<graphs version=\"1\"></graphs>\n" + std::string(kLog), context_for());
  ASSERT_TRUE(document);
  EXPECT_EQ(document->format, "nccl-log");
  EXPECT_TRUE(has_notice(*document, "graph file"));
}

TEST(Formats, SaysWhatATextIsInstead) {
  EXPECT_EQ(refusal(" \n\t\n").what, "is empty");
  EXPECT_NE(refusal("<!DOCTYPE html><html></html>").what.find("web page"), std::string::npos);
  EXPECT_NE(refusal("==============NVSMI LOG==============\n").what.find("nvidia-smi -q"),
            std::string::npos);
  EXPECT_NE(refusal("| NVIDIA-SMI 550.1  Driver |").what.find("overview"), std::string::npos);
  EXPECT_NE(refusal("{\"gpus\": 8}").what.find("JSON"), std::string::npos);
  EXPECT_NE(refusal("SwitchName=s0 Nodes=n[0-3]\n").what.find("Slurm"), std::string::npos);
  EXPECT_NE(refusal("n:1:1 [0] NCCL INFO Bootstrap : Using eth0\n").hint.find("NCCL_DEBUG_SUBSYS"),
            std::string::npos);
  EXPECT_NE(refusal("what is this?").expected.find("nccl-xml"), std::string::npos);
}

TEST(Formats, RefusesBytesThatAreNoText) {
  EXPECT_NE(refusal(std::string_view("\x1f\x8b\x08\0", 4)).hint.find("gunzip"), std::string::npos);
  EXPECT_NE(refusal(std::string_view("abc\0def", 7)).what.find("no text"), std::string::npos);
  EXPECT_NE(refusal("\xff\xfe<\x01").what.find("UTF-16"), std::string::npos);
}

TEST(Formats, ErrorsNameTheFile) {
  EXPECT_EQ(refusal("nothing").where.file, "input.txt");
  EXPECT_EQ(refusal("<system version=\"1\"></system>").where.file, "input.txt");
}

TEST(Formats, TurnsMachinesIntoFabrics) {
  const auto fabric = to_fabric(*read(kLog, context_for()));
  ASSERT_TRUE(fabric);
  EXPECT_EQ(fabric->gpu_count(), 2u);
  const auto table = read(kTable, context_for());
  ASSERT_TRUE(table);
  EXPECT_FALSE(to_fabric(*table));
}

TEST(Formats, FindsWritersByName) {
  EXPECT_NE(find_writer("NCCL-XML"), nullptr);
  EXPECT_NE(find_writer("dot"), nullptr);
  EXPECT_EQ(find_writer("pdf"), nullptr);
}

}  // namespace
}  // namespace isleway::formats
