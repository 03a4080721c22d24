#include "isleway/report/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "report/json.hpp"

namespace isleway::report {
namespace {

using nccl::Replay;
using nccl::ReplayedCall;
using nccl::ReplayedRank;

constexpr std::size_t kMostRows = 32;

const LinkLoad* busiest(const Replay& replay) {
  const auto found = std::ranges::max_element(replay.loads, {}, &LinkLoad::busy);
  return found == replay.loads.end() ? nullptr : &*found;
}

std::string group_text(const std::string& group) { return group.empty() ? "(all)" : group; }

/// Calls of a kind: how many, and how long.
struct Kind {
  std::size_t count = 0;
  Time sum, longest;
};

std::string calls_text(const Replay& replay) {
  if (replay.calls.empty()) return "";
  std::map<std::tuple<std::string, std::string, std::size_t, std::int64_t>, Kind> kinds;
  for (const ReplayedCall& call : replay.calls) {
    const std::string group = call.what == "send" ? "" : group_text(call.group);
    Kind& kind = kinds[{call.what, group, call.ranks.size(), call.bytes}];
    ++kind.count;
    kind.sum += call.end - call.begin;
    kind.longest = std::max(kind.longest, call.end - call.begin);
  }
  std::string text = fmt::format("\n{:15} {:>12} {:>6} {:>14} {:>7} {:>12} {:>12}\n", "call",
                                 "group", "ranks", "bytes", "times", "mean us", "longest us");
  for (const auto& [key, kind] : kinds) {
    const auto& [what, group, ranks, bytes] = key;
    text += fmt::format("{:15} {:>12} {:>6} {:>14} {:>7} {:>12.2f} {:>12.2f}\n", what, group, ranks,
                        bytes, kind.count, kind.sum.us() / static_cast<double>(kind.count),
                        kind.longest.us());
  }
  return text;
}

std::string ranks_text(const Replay& replay) {
  std::string text = fmt::format("{:>6} {:>14} {:>16} {:>12} {:>14}\n", "rank", "computing us",
                                 "communicating us", "exposed us", "ends at us");
  const std::size_t shown = std::min(replay.ranks.size(), kMostRows);
  for (std::size_t r = 0; r < shown; ++r) {
    const ReplayedRank& rank = replay.ranks[r];
    text += fmt::format("{:>6} {:>14.2f} {:>16.2f} {:>12.2f} {:>14.2f}\n", r, rank.computing.us(),
                        rank.communicating.us(), rank.exposed.us(), rank.end.us());
  }
  if (shown < replay.ranks.size())
    text += fmt::format("  ... {} more ranks: --json shows all\n", replay.ranks.size() - shown);
  return text;
}

}  // namespace

std::string replay_text(const Fabric& fabric, const Replay& replay) {
  std::string text = fmt::format("{} traces on {}: {:.2f} us\n\n", replay.ranks.size(),
                                 fabric.name(), replay.time.us());
  text += ranks_text(replay) + calls_text(replay);
  if (const LinkLoad* link = busiest(replay))
    text += fmt::format("\nbusiest link: {}, {:.0f}% of the time\n", fabric.link_name(link->link),
                        100 * link->busy);
  return text;
}

std::string replay_json(const Fabric& fabric, const Replay& replay) {
  const auto us = [](Time time) { return rounded(time.us(), 4); };
  Json json;
  json["machine"] = fabric.name();
  json["time_us"] = us(replay.time);
  json["ranks"] = Json::array();
  for (std::size_t r = 0; r < replay.ranks.size(); ++r) {
    const ReplayedRank& rank = replay.ranks[r];
    json["ranks"].push_back({{"rank", r},
                             {"computing_us", us(rank.computing)},
                             {"communicating_us", us(rank.communicating)},
                             {"exposed_us", us(rank.exposed)},
                             {"end_us", us(rank.end)}});
  }
  json["calls"] = Json::array();
  for (const ReplayedCall& call : replay.calls)
    json["calls"].push_back({{"name", call.name},
                             {"call", call.what},
                             {"group", text_or_null(call.group)},
                             {"ranks", call.ranks},
                             {"bytes", call.bytes},
                             {"begin_us", us(call.begin)},
                             {"end_us", us(call.end)}});
  const LinkLoad* link = busiest(replay);
  json["bottleneck"] = link != nullptr ? Json(fabric.link_name(link->link)) : Json();
  json["bottleneck_busy"] = link != nullptr ? Json(rounded(link->busy, 4)) : Json();
  return document(json);
}

}  // namespace isleway::report
