#include "isleway/model/precision.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "isleway/core/text.hpp"

namespace isleway::model {
namespace {

struct Entry {
  Precision precision;
  const char* name;
  double bytes;
  int bits;
};

constexpr std::array<Entry, 13> kEntries = {{
    {Precision::fp32, "fp32", 4, 32},
    {Precision::tf32, "tf32", 4, 32},
    {Precision::bf16, "bf16", 2, 16},
    {Precision::fp16, "fp16", 2, 16},
    {Precision::fp8_delayed, "fp8_delayed", 1, 8},
    {Precision::fp8_current, "fp8_current", 1, 8},
    {Precision::fp8_rowwise, "fp8_rowwise", 1, 8},
    {Precision::fp8_block, "fp8_block", 1 + 4.0 / (128 * 128), 8},
    {Precision::mxfp8, "mxfp8", 1 + 1.0 / 32, 8},
    {Precision::int8, "int8", 1, 8},
    {Precision::mxfp4, "mxfp4", 0.5 + 1.0 / 32, 4},
    {Precision::nvfp4, "nvfp4", 0.5 + 1.0 / 16, 4},
    {Precision::int4, "int4", 0.5 + 2.0 / 32, 4},
}};

struct Alias {
  const char* name;
  Precision precision;
};

constexpr std::array<Alias, 14> kAliases = {{
    {"bfloat16", Precision::bf16},
    {"float16", Precision::fp16},
    {"half", Precision::fp16},
    {"float32", Precision::fp32},
    {"fp8", Precision::fp8_current},
    {"fp8_cs", Precision::fp8_current},
    {"fp8-cs", Precision::fp8_current},
    {"fp8_tensorwise", Precision::fp8_current},
    {"fp8_ds", Precision::fp8_delayed},
    {"fp8_sc", Precision::fp8_block},
    {"fp8_mx", Precision::mxfp8},
    {"fp8-mx", Precision::mxfp8},
    {"fp8_subchannel", Precision::fp8_block},
    {"fp4", Precision::nvfp4},
}};

const Entry& entry(Precision precision) { return kEntries[static_cast<std::size_t>(precision)]; }

constexpr std::array<Precision, kEntries.size()> all() {
  std::array<Precision, kEntries.size()> list{};
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = kEntries[i].precision;
  return list;
}

}  // namespace

const char* name_of(Precision precision) { return entry(precision).name; }
double bytes_per_element(Precision precision) { return entry(precision).bytes; }
int math_bits(Precision precision) { return entry(precision).bits; }

std::span<const Precision> precisions() {
  static constexpr auto list = all();
  return list;
}

Result<Precision> parse_precision(std::string_view text) {
  for (const Entry& one : kEntries)
    if (equal_ignoring_case(one.name, text)) return one.precision;
  for (const Alias& alias : kAliases)
    if (equal_ignoring_case(alias.name, text)) return alias.precision;
  std::vector<std::string> known;
  for (const Entry& one : kEntries) known.emplace_back(one.name);
  return fail_unknown("precision", text, known);
}

}  // namespace isleway::model
