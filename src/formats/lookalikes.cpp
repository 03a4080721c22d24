#include "formats/lookalikes.hpp"

#include <algorithm>
#include <array>

#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr const char* kTopoHint =
    "`nvidia-smi topo -m > topo.txt`, or a topology file from NCCL_TOPO_DUMP_FILE";

/// One text that each output of its kind has, and others have not.
struct Mark {
  std::string_view text;
  bool at_start;  ///< of the whole text, blanks aside
  Lookalike kind;
};

constexpr Mark kMarks[] = {
    {"<!doctype html",
     true,
     {"is a web page", "save the raw file instead of the page that shows it"}},
    {"<html", true, {"is a web page", "save the raw file instead of the page that shows it"}},
    {"<nvidia_smi_log",
     false,
     {"is the XML of `nvidia-smi -q -x`, which does not say how GPUs are joined", kTopoHint}},
    {"NVSMI LOG",
     false,
     {"is the output of `nvidia-smi -q`, which does not say how GPUs are joined", kTopoHint}},
    {"| NVIDIA-SMI ",
     false,
     {"is the overview of `nvidia-smi`, which does not say how GPUs are joined", kTopoHint}},
    {"NVIDIA-SMI has failed",
     false,
     {"is an error of nvidia-smi: the driver does not run", "`dmesg | grep -i nvrm` on that host"}},
    {"Failed to run topology matrix",
     false,
     {"is an error of nvidia-smi in place of the matrix", kTopoHint}},
    {"bandwidthTest",
     false,
     {"is the output of bandwidthTest, a measurement and not a machine", kTopoHint}},
    {"SwitchName=",
     false,
     {"is Slurm's topology.conf, which describes the network alone", kTopoHint}},
    {"BlockName=",
     false,
     {"is Slurm's topology.conf, which describes the network alone", kTopoHint}},
    {"vendid=0x",
     false,
     {"is the output of ibnetdiscover, which describes the network alone", kTopoHint}},
    {"Link 0:",
     false,
     {"is the output of `nvidia-smi nvlink`, which does not say where links lead", kTopoHint}},
    {"Machine (", true, {"is lstopo's text output", "`lstopo --of xml topo.xml`"}},
    {"PCI bridge:",
     false,
     {"is the output of lspci", "`lstopo --of xml topo.xml`, which holds the same and more"}},
    {"DR path",
     false,
     {"is the output of an InfiniBand tool, which describes the network alone", kTopoHint}},
    {"# Port counters:", false, {"is the output of perfquery: counters of ports", kTopoHint}},
    {"block_sizes:",
     false,
     {"is Slurm's topology.yaml, which describes the network alone", kTopoHint}},
    {"--- ", true, {"is a difference of two files", "give one of the files"}},
    {"{", true, {"looks like JSON", kTopoHint}},
    {"[", true, {"looks like JSON", kTopoHint}},
    {"%PDF-", true, {"is a PDF", kTopoHint}},
};

struct Magic {
  std::string_view bytes;
  Lookalike kind;
};
constexpr Magic kMagics[] = {
    {{"\x1f\x8b", 2}, {"is compressed by gzip", "unpack it first: `gunzip`"}},
    {{"\x28\xb5\x2f\xfd", 4}, {"is compressed by zstd", "unpack it first: `unzstd`"}},
    {{"\xfd"
      "7zXZ",
      5},
     {"is compressed by xz", "unpack it first: `unxz`"}},
    {{"PK\x03\x04", 4}, {"is a ZIP archive", "unpack it first: `unzip`"}},
    {{"\x89PNG", 4}, {"is a picture", kTopoHint}},
    {{"\xff\xd8\xff", 3}, {"is a picture", kTopoHint}},
    {{"\x7f"
      "ELF",
      4},
     {"is a program", kTopoHint}},
    {{"\xff\xfe", 2}, {"is UTF-16 text", "`iconv -f UTF-16 -t UTF-8`"}},
    {{"\xfe\xff", 2}, {"is UTF-16 text", "`iconv -f UTF-16 -t UTF-8`"}},
};
constexpr Lookalike kUnknownBinary = {"is no text", kTopoHint};

bool contains_ignoring_case(std::string_view text, std::string_view wanted) {
  return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), [](char a, char b) {
           return equal_ignoring_case({&a, 1}, {&b, 1});
         }) != text.end();
}

}  // namespace

const Lookalike* find_lookalike(std::string_view text) {
  // What a text is shows at its start; logs can be long.
  text = trim(text).substr(0, std::size_t{256} << 10);
  for (const Mark& mark : kMarks)
    if (mark.at_start ? starts_with_ignoring_case(text, mark.text)
                      : contains_ignoring_case(text, mark.text))
      return &mark.kind;
  return nullptr;
}

const Lookalike* find_binary(std::string_view data) {
  for (const Magic& magic : kMagics)
    if (data.starts_with(magic.bytes)) return &magic.kind;
  return data.find('\0') == std::string_view::npos ? nullptr : &kUnknownBinary;
}

}  // namespace isleway::formats
