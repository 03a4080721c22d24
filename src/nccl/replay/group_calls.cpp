#include "nccl/replay/group_calls.hpp"

#include <algorithm>
#include <unordered_map>

#include "isleway/fabric/join.hpp"

namespace isleway::nccl {

using formats::TraceNode;

namespace {

constexpr std::int64_t kWord = 16;

/// Where the links of a part of the machine lie in the whole: by name and, of links of one
/// name, in order.
std::vector<LinkId> links_in_whole(const Fabric& part, const Fabric& whole) {
  std::unordered_map<std::string, std::vector<LinkId>> by_name;
  for (LinkId id = 0; id < whole.link_count(); ++id) by_name[whole.link_name(id)].push_back(id);
  std::unordered_map<std::string, std::size_t> met;
  std::vector<LinkId> links;
  for (LinkId id = 0; id < part.link_count(); ++id) {
    const std::string name = part.link_name(id);
    links.push_back(by_name.at(name)[met[name]++]);
  }
  return links;
}

/// A wiring of a part, over the same links of the whole.
class WholeWiring final : public Wiring {
 public:
  WholeWiring(std::unique_ptr<Wiring> part, const std::vector<LinkId>& links)
      : part_(std::move(part)), links_(links) {}

  Connection connection(Port from, Port to) const override {
    Connection connection = part_->connection(from, to);
    if (connection.route == nullptr || links_.empty()) return connection;
    const auto [known, is_new] = routes_.try_emplace(connection.route);
    if (is_new) {
      known->second = *connection.route;
      for (Hop& hop : known->second.hops) hop.link = links_[hop.link];
    }
    connection.route = &known->second;
    return connection;
  }
  Rate own_rate(bool reduces) const override { return part_->own_rate(reduces); }
  Time start() const override { return part_->start(); }
  Time finish() const override { return part_->finish(); }

 private:
  std::unique_ptr<Wiring> part_;
  const std::vector<LinkId>& links_;
  mutable std::unordered_map<const Route*, Route> routes_;  ///< whose addresses stay
};

}  // namespace

struct GroupCalls::Group {
  Fabric fabric;
  std::vector<LinkId> links;  ///< empty: the group is the whole
  std::unique_ptr<Communicator> communicator;
};

struct GroupCalls::Made {
  std::unique_ptr<Schedule> schedule;
  std::unique_ptr<Wiring> wiring;
};

GroupCalls::GroupCalls(const Fabric& fabric, const Parts& parts, const Options& options)
    : fabric_(fabric), parts_(parts), options_(options) {}
GroupCalls::~GroupCalls() = default;

Collective collective_of(const TraceNode& node) {
  switch (node.collective) {
    case TraceNode::Collective::all_reduce:
    case TraceNode::Collective::barrier: return Collective::all_reduce;
    case TraceNode::Collective::reduce: return Collective::reduce;
    case TraceNode::Collective::all_gather: return Collective::all_gather;
    case TraceNode::Collective::gather: return Collective::gather;
    case TraceNode::Collective::scatter: return Collective::scatter;
    case TraceNode::Collective::broadcast: return Collective::broadcast;
    case TraceNode::Collective::all_to_all: return Collective::all_to_all;
    case TraceNode::Collective::reduce_scatter:
    case TraceNode::Collective::reduce_scatter_block: return Collective::reduce_scatter;
  }
  return Collective::all_reduce;
}

std::int64_t call_bytes(Collective collective, const TraceNode& node, int ranks) {
  std::int64_t bytes = node.bytes;
  if (node.collective == TraceNode::Collective::barrier) bytes = 4;
  const bool grows = collective == Collective::all_gather || collective == Collective::gather;
  if (grows) bytes = bytes / kWord * kWord * ranks;
  const bool divides = collective == Collective::reduce_scatter ||
                       collective == Collective::all_to_all || collective == Collective::scatter;
  if (divides) bytes = bytes / (kWord * ranks) * (kWord * ranks);
  return bytes / 4 * 4;
}

Result<const GroupCalls::Group*> GroupCalls::group(const std::vector<int>& ranks) {
  auto& place = groups_[ranks];
  if (place) return place.get();
  auto group = std::make_unique<Group>();
  if (ranks.size() == fabric_.gpu_count()) {
    group->fabric = fabric_;
  } else {
    const std::vector<GpuId> gpus(ranks.begin(), ranks.end());
    auto part = with_ranks(fabric_, gpus);
    if (!part) return tl::unexpected(part.error());
    group->fabric = *std::move(part);
    group->links = links_in_whole(group->fabric, fabric_);
  }
  auto communicator = Communicator::create(group->fabric, parts_, options_);
  if (!communicator) return tl::unexpected(communicator.error());
  group->communicator = *std::move(communicator);
  place = std::move(group);
  return place.get();
}

Result<std::unique_ptr<GroupCalls::Made>> GroupCalls::make(const Group& group,
                                                           const CollectiveCall& call) const {
  const auto decision = group.communicator->decide(call);
  if (!decision) return tl::unexpected(decision.error());
  auto schedule = group.communicator->schedule(call, *decision);
  if (!schedule) return tl::unexpected(schedule.error());
  auto made = std::make_unique<Made>();
  made->schedule = *std::move(schedule);
  made->wiring =
      std::make_unique<WholeWiring>(group.communicator->wiring(call, *decision), group.links);
  return made;
}

/// From one of two ranks to the other, over as many channels as NCCL gives a peer.
Result<std::unique_ptr<GroupCalls::Made>> GroupCalls::make_message(const Group& group,
                                                                   bool backward,
                                                                   std::int64_t bytes) const {
  CollectiveCall call{Collective::sendrecv, {bytes, 1}, 2};
  const auto decision = group.communicator->decide(call);
  if (!decision) return tl::unexpected(decision.error());
  const std::int64_t channels = std::clamp<std::int64_t>(bytes / kWord, 1, decision->channels);
  const std::vector<std::pair<int, int>> pairs(static_cast<std::size_t>(channels),
                                               backward ? std::pair{1, 0} : std::pair{0, 1});
  auto made = std::make_unique<Made>();
  made->schedule = make_copy(2, pairs, (bytes + channels - 1) / channels,
                             std::max<std::int64_t>(kWord, decision->chunking.slice_bytes));
  made->wiring =
      std::make_unique<WholeWiring>(group.communicator->wiring(call, *decision), group.links);
  return made;
}

Result<GroupCalls::Call> GroupCalls::call(const TraceJob& job) {
  const bool is_message = job.kind == TraceJob::Kind::message;
  const auto ranks = static_cast<int>(job.ranks.size());
  const Collective collective = is_message ? Collective::sendrecv : collective_of(*job.node);
  const std::int64_t bytes =
      is_message ? job.node->bytes : call_bytes(collective, *job.node, ranks);
  if (bytes == 0 || ranks == 1) return Call{};
  std::vector<int> members = job.ranks;
  std::ranges::sort(members);
  const auto group = this->group(members);
  if (!group) return tl::unexpected(group.error());
  const bool backward = is_message && job.ranks.front() > job.ranks.back();
  const int root = is_message ? backward : job.root;
  auto& place = made_[{*group, is_message ? -1 : static_cast<int>(collective), bytes, root}];
  if (!place) {
    auto made = is_message ? make_message(**group, backward, bytes)
                           : make(**group, {collective, {bytes, 4}, ranks, root});
    if (!made) return tl::unexpected(made.error());
    place = *std::move(made);
  }
  return Call{place->schedule.get(), place->wiring.get()};
}

}  // namespace isleway::nccl
