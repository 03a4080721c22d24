#include "isleway/collective/collective.hpp"

#include <array>

#include "isleway/core.hpp"

namespace isleway {
namespace {

constexpr std::array<const char*, kCollectiveCount> kNames = {
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
    "all_to_all", "gather",     "scatter",        "sendrecv"};

std::int64_t whole_elements(std::int64_t bytes, std::int64_t element) {
  return bytes / element * element;
}

}  // namespace

const char* name_of(Collective collective) { return kNames[static_cast<std::size_t>(collective)]; }

Result<Collective> parse_collective(std::string_view text) {
  std::string name = to_lower(text);
  // nccl-tests' programs are called alltoall_perf, all_reduce_perf, ...
  if (name.size() > 5 && name.ends_with("_perf")) name.resize(name.size() - 5);
  for (char& c : name)
    if (c == '-') c = '_';
  if (name == "alltoall") name = "all_to_all";
  if (name == "allreduce") name = "all_reduce";
  if (name == "allgather") name = "all_gather";
  if (name == "reducescatter") name = "reduce_scatter";
  for (int i = 0; i < kCollectiveCount; ++i)
    if (name == kNames[i]) return static_cast<Collective>(i);
  return fail_unknown("collective", text, {kNames.begin(), kNames.end()});
}

std::int64_t CallSize::input_bytes(Collective collective, int ranks) const {
  switch (collective) {
    case Collective::all_gather:
    case Collective::gather: return whole_elements(bytes / ranks, element_bytes);
    case Collective::reduce_scatter:
    case Collective::all_to_all:
    case Collective::scatter: return whole_elements(bytes / ranks, element_bytes) * ranks;
    default: return whole_elements(bytes, element_bytes);
  }
}

std::int64_t CallSize::output_bytes(Collective collective, int ranks) const {
  switch (collective) {
    case Collective::all_gather:
    case Collective::gather:
    case Collective::all_to_all: return whole_elements(bytes / ranks, element_bytes) * ranks;
    case Collective::reduce_scatter:
    case Collective::scatter: return whole_elements(bytes / ranks, element_bytes);
    default: return whole_elements(bytes, element_bytes);
  }
}

double bus_factor(Collective collective, int ranks) {
  const double n = ranks;
  switch (collective) {
    case Collective::all_reduce: return 2 * (n - 1) / n;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
    case Collective::gather:
    case Collective::scatter: return (n - 1) / n;
    default: return 1;
  }
}

}  // namespace isleway
