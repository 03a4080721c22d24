// Element types, reductions and sizes of nccl-tests.
#include <algorithm>
#include <array>

#include "isleway/core.hpp"
#include "isleway/nccl/bench.hpp"

namespace isleway::nccl {
namespace {

constexpr std::array<DataType, 12> kTypes = {{{"int8", 1},
                                              {"uint8", 1},
                                              {"int32", 4},
                                              {"uint32", 4},
                                              {"int64", 8},
                                              {"uint64", 8},
                                              {"half", 2},
                                              {"float", 4},
                                              {"double", 8},
                                              {"bfloat16", 2},
                                              {"f8e4m3", 1},
                                              {"f8e5m2", 1}}};
constexpr std::array<const char*, 6> kReductions = {"sum", "prod", "max", "min", "avg", "mulsum"};

constexpr std::size_t kMostSizes = 100'000;

}  // namespace

std::span<const DataType> data_types() { return kTypes; }
std::span<const char* const> reductions() { return kReductions; }

Result<DataType> parse_data_type(std::string_view text) {
  std::vector<std::string> names;
  for (const DataType& type : kTypes) {
    if (equal_ignoring_case(text, type.name)) return type;
    names.emplace_back(type.name);
  }
  return fail_unknown("data type", text, names);
}

Result<const char*> parse_reduction(std::string_view text) {
  for (const char* name : kReductions)
    if (equal_ignoring_case(text, name)) return name;
  return fail_unknown("reduction", text, {kReductions.begin(), kReductions.end()});
}

bool takes_reduction(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
    case Collective::reduce_scatter:
    case Collective::reduce:
    case Collective::sendrecv: return true;  // nccl-tests prints the -o of a sendrecv
    default: return false;
  }
}

bool takes_root(Collective collective) {
  switch (collective) {
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::gather:
    case Collective::scatter: return true;
    default: return false;
  }
}

Result<std::vector<std::int64_t>> SizeRange::sizes() const {
  if (!list.empty()) return list;
  if (first < 0 || first > last)
    return fail("the smallest size, " + size_text(Bytes(first)) + ", is above the largest, " +
                size_text(Bytes(last)));
  if (factor <= 1 && step <= 0)
    return fail("sizes that do not grow", "-f 2 or more, or -i 1 or more");
  std::vector<std::int64_t> all;
  for (std::int64_t size = first; size <= last;) {
    if (all.size() == kMostSizes)
      return fail("more than " + std::to_string(kMostSizes) + " sizes", "", "a larger -i, or -f 2");
    all.push_back(size);
    if (factor > 1) {
      if (size > last / factor) break;
      size = std::max(size * factor, size + 1);  // 0 grows too
    } else {
      if (size > last - step) break;
      size += step;
    }
  }
  return all;
}

BenchSize bench_size(Collective collective, std::int64_t bytes, int element_bytes, int ranks) {
  const std::int64_t elements = bytes / element_bytes;
  switch (collective) {
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
    case Collective::gather:
    case Collective::scatter: {
      const std::int64_t word = 16 / element_bytes;
      const std::int64_t count = elements / ranks / word * word;
      return {count * ranks * element_bytes, count};
    }
    default: return {elements * element_bytes, elements};
  }
}

std::int64_t largest_size(Bytes memory, bool check) {
  const std::int64_t gib = Bytes::gib(1).count();
  const std::int64_t reserved =
      std::min((memory.count() + 16 * gib - 1) / (16 * gib), std::int64_t{4});
  return std::max<std::int64_t>(0, memory.count() - reserved * gib - gib) / (check ? 3 : 2);
}

}  // namespace isleway::nccl
