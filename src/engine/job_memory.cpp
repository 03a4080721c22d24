#include "engine/job_memory.hpp"

namespace isleway {
namespace {

/// The resources of a call, by the numbers that `links` gives them. Nothing where a connection
/// is wrong.
std::optional<std::vector<std::uint32_t>> resources_of(const Job& job, LinkUse& links) {
  std::vector<std::uint32_t> used;
  bool right = true;
  job.schedule->loads([&](const Load& load) {
    if (load.from == load.to || !right) return;
    const auto connection = checked_connection(*job.schedule, *job.wiring, load.from, load.to);
    if (!connection) {
      right = false;
      return;
    }
    for (const Usage& use : links.uses(links.way(connection->route, connection->mover)))
      used.push_back(use.resource);
  });
  if (!right) return std::nullopt;
  return used;
}

std::vector<std::uint32_t> resources_of(const FoldedStreams& call, const Folding& folding) {
  std::vector<std::uint32_t> used;
  for (const Pipe& pipe : call.pipes)
    for (const Usage& use : folding.classes[pipe.flow_class].uses) used.push_back(use.resource);
  return used;
}

}  // namespace

JobMemory::JobMemory(const Scenario& scenario, const Calls& calls, LinkUse& links,
                     const Folding* folding, const std::vector<bool>& forget)
    : calls_(calls.first.size()) {
  bool useful = false;
  for (const std::uint32_t call : calls.call_of)
    if (call != UINT32_MAX && ++calls_[call].jobs > 1) useful = true;
  for (std::size_t call = 0; call < calls_.size(); ++call)
    calls_[call].alone = useful && !forget[call] && scenario.traffic == nullptr;
  if (useful && scenario.traffic == nullptr) find_alone(scenario, calls, links, folding);
}

void JobMemory::find_alone(const Scenario& scenario, const Calls& calls, LinkUse& links,
                           const Folding* folding) {
  constexpr std::uint32_t kNobody = UINT32_MAX;
  std::vector<std::uint32_t> user;
  const auto use = [&](std::uint32_t resource, std::uint32_t call) {
    if (user.size() <= resource) user.resize(resource + 1, kNobody);
    std::uint32_t& by = user[resource];
    if (by == kNobody) by = call;
    if (by != call) calls_[by].alone = calls_[call].alone = false;
  };
  for (std::uint32_t call = 0; call < calls_.size(); ++call) {
    const auto used = folding != nullptr
                          ? std::optional(resources_of(folding->calls[call], *folding))
                          : resources_of(*calls.first[call], links);
    if (!used) {
      for (Call& c : calls_) c.alone = false;
      return;
    }
    for (const std::uint32_t r : *used) use(r, call);
  }
  for (const LinkChange& change : scenario.changes)
    for (const std::uint32_t r : links.resources_of(change.link)) {
      const std::uint32_t resource = folding != nullptr ? folding->resource_set[r] : r;
      if (resource < user.size() && user[resource] != kNobody) calls_[user[resource]].alone = false;
    }
}

bool JobMemory::begin(std::uint32_t id, std::int64_t now) {
  Call& call = calls_[id];
  if (!call.alone) return true;
  if (now < call.recalled_until) return false;
  if (call.under_way > 0) call.alone = false;
  return true;
}

const JobMemory::Record* JobMemory::recall(std::uint32_t id, std::int64_t now) {
  Call& call = calls_[id];
  if (!call.alone || !call.record) {
    ++call.under_way;
    return nullptr;
  }
  call.recalled_until = now + call.record->length;
  return &*call.record;
}

}  // namespace isleway
