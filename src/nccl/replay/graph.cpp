#include "nccl/replay/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>

namespace isleway::nccl {
namespace {

using formats::ExecutionTrace;
using formats::TraceNode;

class Joiner {
 public:
  Joiner(std::span<const ExecutionTrace> traces, const ReplayOptions& options, Notices& notices)
      : traces_(traces), options_(options), notices_(notices) {}

  Result<std::vector<TraceJob>> join() {
    return find_groups()
        .and_then([&] { return make_jobs(); })
        .and_then([&] { return add_dependencies(); })
        .and_then([&] { return sort(); })
        .map([&] { return std::move(sorted_); });
  }

 private:
  tl::unexpected<Error> wrong(int rank, std::string what, std::string hint = {}) const {
    return fail(std::move(what), {}, std::move(hint),
                {traces_[static_cast<std::size_t>(rank)].file});
  }

  Result<void> find_groups() {
    const auto ranks = static_cast<int>(traces_.size());
    for (const auto& [name, members] : options_.groups) {
      for (const int member : members)
        if (member < 0 || member >= ranks)
          return fail(fmt::format("group {} has a rank {}", name, member),
                      fmt::format("0 to {}", ranks - 1));
      groups_[name] = {members.begin(), members.end()};
    }
    for (int rank = 0; rank < ranks; ++rank)
      for (const TraceNode& node : traces_[static_cast<std::size_t>(rank)].nodes) {
        if (node.kind != TraceNode::Kind::collective) continue;
        if (node.group.empty()) groups_.try_emplace("").first->second.insert(rank);
        else if (!options_.groups.contains(node.group)) groups_[node.group].insert(rank);
      }
    // Those without a name are of everybody.
    if (const auto all = groups_.find(""); all != groups_.end())
      for (int rank = 0; rank < ranks; ++rank) all->second.insert(rank);
    return {};
  }

  /// What a node waits for on its own: other ranks, or time.
  Result<void> make_jobs() {
    for (int rank = 0; rank < static_cast<int>(traces_.size()); ++rank) {
      const ExecutionTrace& trace = traces_[static_cast<std::size_t>(rank)];
      auto& places = job_of_.emplace_back();
      places.reserve(trace.nodes.size());
      for (const TraceNode& node : trace.nodes) {
        const auto job = job_for(rank, node);
        if (!job) return tl::unexpected(job.error());
        places.push_back(*job);
      }
    }
    return check_complete();
  }

  Result<std::uint32_t> job_for(int rank, const TraceNode& node) {
    switch (node.kind) {
      case TraceNode::Kind::collective: return join_collective(rank, node);
      case TraceNode::Kind::send:
      case TraceNode::Kind::receive: return join_message(rank, node);
      default: break;
    }
    TraceJob job;
    job.node = &node;
    job.ranks = {rank};
    const auto delay = delay_of(rank, node);
    if (!delay) return tl::unexpected(delay.error());
    job.delay = *delay;
    if (node.kind == TraceNode::Kind::compute && !node.on_cpu) job.kind = TraceJob::Kind::compute;
    return add(std::move(job));
  }

  Result<Time> delay_of(int rank, const TraceNode& node) {
    constexpr std::uint64_t most_us = 1'000'000'000'000;
    if (node.duration_us > most_us)
      return wrong(rank, fmt::format("node {} takes {} us", node.id, node.duration_us));
    if (node.duration_us > 0) return Time::us(static_cast<double>(node.duration_us));
    Time memory;
    if (options_.memory_rate > Rate() && node.kind != TraceNode::Kind::nothing)
      memory = transfer_time(Bytes(node.tensor_bytes), options_.memory_rate);
    if (node.kind != TraceNode::Kind::compute || node.operations == 0) return memory;
    if (options_.flops <= 0)
      return wrong(rank,
                   fmt::format("node {} was not measured: the trace tells its {} operations only",
                               node.id, node.operations),
                   "--tflops N says how fast the GPU computes");
    return std::max(memory, Time::seconds(static_cast<double>(node.operations) / options_.flops));
  }

  std::uint32_t add(TraceJob job) {
    jobs_.push_back(std::move(job));
    return static_cast<std::uint32_t>(jobs_.size() - 1);
  }

  /// The k-th collective of a group on each of its ranks is the same one.
  Result<std::uint32_t> join_collective(int rank, const TraceNode& node) {
    const std::set<int>& members = groups_.at(node.group);
    if (!members.contains(rank))
      return wrong(rank, fmt::format("node {} is a collective of group {}, which rank {} is not in",
                                     node.id, node.group, rank));
    auto& calls = calls_[node.group];
    std::size_t& number = next_call_[{node.group, rank}];
    if (number == calls.size()) {
      TraceJob job;
      job.kind = TraceJob::Kind::collective;
      job.node = &node;
      job.group = node.group;
      job.ranks.assign(members.begin(), members.end());
      job.root = static_cast<int>(
          std::distance(job.ranks.begin(), std::ranges::find(job.ranks, node.root)));
      if (job.root == static_cast<int>(job.ranks.size())) job.root = 0;
      calls.push_back(add(std::move(job)));
    }
    const std::uint32_t job = calls[number++];
    const TraceNode& first = *jobs_[job].node;
    if (first.collective != node.collective || first.bytes != node.bytes)
      return wrong(rank, fmt::format("collective {} of group \"{}\" (node {}) is another than on "
                                     "rank {}: type {} of {} bytes, there type {} of {}",
                                     number, node.group, node.id, jobs_[job].ranks.front(),
                                     static_cast<int>(node.collective), node.bytes,
                                     static_cast<int>(first.collective), first.bytes));
    return job;
  }

  /// Messages between two ranks with the same tag are received in the order sent.
  Result<std::uint32_t> join_message(int rank, const TraceNode& node) {
    const bool sends = node.kind == TraceNode::Kind::send;
    const int peer = sends ? node.target : node.source;
    if (peer < 0 || peer >= static_cast<int>(traces_.size()) || peer == rank)
      return wrong(rank, fmt::format("node {} {} rank {}", node.id,
                                     sends ? "sends to" : "receives from", peer));
    const int from = sends ? rank : peer, to = sends ? peer : rank;
    auto& mine = half_done_[{from, to, node.tag, sends}];
    auto& other = half_done_[{from, to, node.tag, !sends}];
    if (!other.empty()) {
      const std::uint32_t job = other.front();
      other.pop_front();
      if (jobs_[job].node->bytes != node.bytes)
        return wrong(rank, fmt::format("node {} is a message of {} bytes from rank {} to rank {}, "
                                       "the other end's has {}",
                                       node.id, node.bytes, from, to, jobs_[job].node->bytes));
      return job;
    }
    TraceJob job;
    job.kind = TraceJob::Kind::message;
    job.node = &node;
    job.ranks = {from, to};
    mine.push_back(add(std::move(job)));
    return mine.back();
  }

  Result<void> check_complete() const {
    for (const auto& [group, calls] : calls_)
      for (const int rank : groups_.at(group)) {
        const auto done = next_call_.find({group, rank});
        const std::size_t count = done == next_call_.end() ? 0 : done->second;
        if (count != calls.size())
          return wrong(rank,
                       fmt::format("has {} collectives of group \"{}\", other ranks have {}", count,
                                   group, calls.size()),
                       "--groups FILE says which ranks a process group has");
      }
    for (const auto& [key, left] : half_done_) {
      if (left.empty()) continue;
      const auto& [from, to, tag, sends] = key;
      return wrong(sends ? from : to,
                   fmt::format("node {} {} rank {} with tag {}, which has no such {}",
                               jobs_[left.front()].node->id, sends ? "sends to" : "receives from",
                               sends ? to : from, tag, sends ? "receive" : "send"));
    }
    return {};
  }

  Result<void> add_dependencies() {
    for (std::size_t rank = 0; rank < traces_.size(); ++rank) {
      const auto& nodes = traces_[rank].nodes;
      std::unordered_map<std::uint64_t, std::size_t> place;
      for (std::size_t i = 0; i < nodes.size(); ++i)
        if (!place.try_emplace(nodes[i].id, i).second)
          return wrong(static_cast<int>(rank), fmt::format("has two nodes of id {}", nodes[i].id));
      std::size_t missing = 0;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        TraceJob& job = jobs_[job_of_[rank][i]];
        for (const std::uint64_t before : nodes[i].after) {
          const auto found = place.find(before);
          if (found == place.end()) ++missing;
          else if (found->second != i) job.after.push_back(job_of_[rank][found->second]);
        }
      }
      if (missing > 0)
        notices_.skipped(
            {traces_[rank].file},
            fmt::format("{} dependencies on nodes that the trace does not hold", missing));
    }
    return {};
  }

  /// Of what may begin, the first in its trace goes first; so the streams of a rank and the calls
  /// of a group get an order that its dependencies allow.
  Result<void> sort() {
    const std::size_t count = jobs_.size();
    std::vector<std::uint32_t> missing(count), new_place(count);
    std::vector<std::vector<std::uint32_t>> next(count);
    for (std::uint32_t j = 0; j < count; ++j) {
      auto& after = jobs_[j].after;
      std::ranges::sort(after);
      after.erase(std::ranges::unique(after).begin(), after.end());
      std::erase(after, j);
      missing[j] = static_cast<std::uint32_t>(after.size());
      for (const std::uint32_t before : after) next[before].push_back(j);
    }
    const auto position = [this](std::uint32_t j) {
      const TraceNode* node = jobs_[j].node;
      const auto rank = static_cast<std::size_t>(first_rank(j));
      return std::tuple(node - traces_[rank].nodes.data(), rank, j);
    };
    using Entry = std::tuple<std::ptrdiff_t, std::size_t, std::uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (std::uint32_t j = 0; j < count; ++j)
      if (missing[j] == 0) ready.push(position(j));
    std::map<int, std::uint32_t> last_compute;
    std::map<std::string, std::uint32_t> last_call;
    const auto chain = [&](auto& last, const auto& key, TraceJob& job) {
      const auto [found, is_first] = last.try_emplace(key, 0);
      const auto place = static_cast<std::uint32_t>(sorted_.size());
      if (!is_first) job.after.push_back(found->second);
      found->second = place;
    };
    while (!ready.empty()) {
      const std::uint32_t j = std::get<2>(ready.top());
      ready.pop();
      TraceJob job = std::move(jobs_[j]);
      for (std::uint32_t& before : job.after) before = new_place[before];
      if (job.kind == TraceJob::Kind::compute) chain(last_compute, job.ranks.front(), job);
      if (job.kind == TraceJob::Kind::collective) chain(last_call, job.group, job);
      new_place[j] = static_cast<std::uint32_t>(sorted_.size());
      sorted_.push_back(std::move(job));
      for (const std::uint32_t n : next[j])
        if (--missing[n] == 0) ready.push(position(n));
    }
    if (sorted_.size() == count) return {};
    for (std::uint32_t j = 0; j < count; ++j)
      if (missing[j] > 0)
        return wrong(first_rank(j), fmt::format("node {} ({}) waits, over others, for itself",
                                                jobs_[j].node->id, jobs_[j].node->name));
    return {};
  }

  /// Of which `node` is.
  int first_rank(std::uint32_t j) const {
    const TraceJob& job = jobs_[j];
    if (job.kind == TraceJob::Kind::message && job.node->kind == TraceNode::Kind::receive)
      return job.ranks.back();
    return job.ranks.front();
  }

  std::span<const ExecutionTrace> traces_;
  const ReplayOptions& options_;
  Notices& notices_;
  std::map<std::string, std::set<int>> groups_;
  std::vector<TraceJob> jobs_, sorted_;
  std::vector<std::vector<std::uint32_t>> job_of_;           ///< by rank and place in its trace
  std::map<std::string, std::vector<std::uint32_t>> calls_;  ///< by group
  std::map<std::pair<std::string, int>, std::size_t> next_call_;  ///< by group and rank
  /// By sender, receiver and tag: messages of which only the send (true) or receive was met.
  std::map<std::tuple<int, int, int, bool>, std::deque<std::uint32_t>> half_done_;
};

}  // namespace

Result<std::vector<TraceJob>> join_traces(std::span<const ExecutionTrace> traces,
                                          const ReplayOptions& options, Notices& notices) {
  return Joiner(traces, options, notices).join();
}

}  // namespace isleway::nccl
