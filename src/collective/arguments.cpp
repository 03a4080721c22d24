#include "collective/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isleway {
namespace {

// Far above any machine, and low enough that no product of sizes and counts overflows.
constexpr int kMostChannels = 1024;
constexpr int kMostRanks = 1 << 24;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 48;

template <class T>
Result<void> within(T value, T least, T most, const char* what) {
  if (value >= least && value <= most) return {};
  return fail(fmt::format("{} of {}", what, value), fmt::format("{} to {}", least, most));
}

Result<void> check_chunking(const Chunking& chunking) {
  for (const auto& [bytes, what] : {std::pair{chunking.chunk_bytes, "a chunk"},
                                    std::pair{chunking.share_unit_bytes, "a share unit"}}) {
    if (auto ok = within<std::int64_t>(bytes, 16, kMostBytes, what); !ok) return ok;
    if (bytes % 16 != 0)
      return fail(fmt::format("{} of {} bytes", what, bytes), "a multiple of 16");
  }
  return within<std::int64_t>(chunking.slice_bytes, 1, kMostBytes, "a slice");
}

}  // namespace

Result<void> check_arguments(const CollectiveCall& call, int channels, const Chunking& chunking,
                             const char* algorithm, std::initializer_list<Collective> collectives) {
  if (std::find(collectives.begin(), collectives.end(), call.collective) == collectives.end()) {
    std::string names;
    for (const Collective c : collectives)
      names += (names.empty() ? "" : ", ") + std::string(name_of(c));
    return fail(fmt::format("{} does not do {}", algorithm, name_of(call.collective)),
                "one of " + names);
  }
  if (auto ok = within(call.ranks, 1, kMostRanks, "a number of ranks"); !ok) return ok;
  if (auto ok = within(call.root, 0, call.ranks - 1, "a root"); !ok) return ok;
  if (auto ok = within(channels, 1, kMostChannels, "a number of channels"); !ok) return ok;
  if (auto ok = within<std::int64_t>(call.size.bytes, 0, kMostBytes, "a size"); !ok) return ok;
  const int element = call.size.element_bytes;
  if (element < 1 || element > 16 || 16 % element != 0)
    return fail(fmt::format("elements of {} bytes", element), "1, 2, 4, 8 or 16");
  return check_chunking(chunking);
}

Result<void> check_every_rank_once(const std::vector<int>& ranks, int count,
                                   const std::string& what) {
  if (static_cast<int>(ranks.size()) != count)
    return fail(fmt::format("{} has {} ranks", what, ranks.size()),
                fmt::format("all {} of the call", count));
  std::vector<bool> seen(count);
  for (const int rank : ranks) {
    if (rank < 0 || rank >= count)
      return fail(fmt::format("{} names rank {}", what, rank),
                  fmt::format("ranks 0 to {}", count - 1));
    if (seen[rank])
      return fail(fmt::format("{} names rank {} twice", what, rank), "every rank once");
    seen[rank] = true;
  }
  return {};
}

}  // namespace isleway
