#include "formats/algorithms/plan_uses.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace isleway::formats {
namespace {

constexpr std::size_t kMostPacketPairs = 50'000'000;

template <std::size_t N>
bool is_one_of(const std::string& name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_packet_memory(const PlanBuffer& buffer) {
  return buffer.place.buffer == AlgorithmPlace::Buffer::scratch && buffer.group == nullptr;
}

}  // namespace

bool moves_packets(const PlanOperation& operation) {
  return is_one_of(operation.name,
                   std::to_array<std::string_view>(
                       {"ppkt", "rppkt", "respkt", "cpkt", "upkt", "repkt", "recpkt", "recspkt"}));
}

bool signals(const PlanOperation& operation) {
  return is_one_of(operation.name,
                   std::to_array<std::string_view>({"signal", "rlxsignal", "pws", "pwsf"}));
}

bool waits(const PlanOperation& operation) {
  return is_one_of(operation.name, std::to_array<std::string_view>({"wait", "rlxwait"}));
}

PacketUse packet_use(std::size_t block, const PlanOperation& operation, const PlanBuffer& buffer) {
  return {block, buffer.rank, buffer.place.chunk, buffer.chunks, operation.part, operation.parts};
}

Result<PlanUses> PlanUses::find(const ExecutionPlan& plan) {
  PlanUses uses;
  Reads reads;
  for (std::size_t b = 0; b < plan.threadblocks.size(); ++b)
    for (const PlanOperation& operation : plan.threadblocks[b].operations)
      uses.add(b, plan.threadblocks[b].rank, operation, reads);
  for (auto& [rank, writes] : uses.writes) {
    const std::vector<PacketUse>& read_here = reads[rank];
    if (read_here.size() > kMostPacketPairs / writes.size())
      return fail("has more operations on packets than can be matched");
    for (Write& write : writes)
      for (const PacketUse& read : read_here)
        if (read.block != write.packets.block && read.overlaps(write.packets))
          write.readers.insert(read.block);
  }
  return uses;
}

void PlanUses::add(std::size_t block, int rank, const PlanOperation& operation, Reads& reads) {
  for (const PlanOperation& inner : operation.inner) add(block, rank, inner, reads);
  for (const PlanLink link : operation.links) {
    if (signals(operation)) signallers[{link, rank}].insert(block);
    if (waits(operation)) waiters[{link, rank}].insert(block);
  }
  if (operation.name == "barrier") barriers[{rank, operation.barrier}].insert(block);
  for (const int semaphore : operation.semaphores) {
    const bool takes = operation.name == "sem_acquire";
    (takes ? acquirers : releasers)[{rank, semaphore}].insert(block);
    if (takes) ++acquires[{rank, semaphore}];
  }
  if (!moves_packets(operation)) return;
  for (const PlanBuffer& buffer : operation.sources)
    if (is_packet_memory(buffer))
      reads[buffer.rank].push_back(packet_use(block, operation, buffer));
  for (const PlanBuffer& buffer : operation.targets)
    if (is_packet_memory(buffer))
      writes[buffer.rank].push_back({packet_use(block, operation, buffer), {}});
}

}  // namespace isleway::formats
