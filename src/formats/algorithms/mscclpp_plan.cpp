// MSCCL++'s one-sided operations as streams. What a threadblock does to another rank's memory
// is done there by a helper stream, to which its messages go in order.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "formats/algorithms/algorithms.hpp"
#include "formats/algorithms/plan.hpp"
#include "formats/algorithms/plan_uses.hpp"
#include "formats/algorithms/streams.hpp"

namespace isleway::formats {
namespace {

class PlanStreams {
 public:
  PlanStreams(const ExecutionPlan& plan, PlanUses uses, std::string file)
      : plan_(plan), uses_(std::move(uses)), file_(std::move(file)) {}

  Result<std::vector<AlgorithmStream>> make() {
    for (const PlanThreadblock& block : plan_.threadblocks) builder_.add_stream(block.rank);
    if (auto ok = start_semaphores(); !ok) return tl::unexpected(ok.error());
    for (std::size_t b = 0; b < plan_.threadblocks.size(); ++b) {
      block_ = b;
      for (const PlanOperation& operation : plan_.threadblocks[b].operations)
        if (auto ok = add(operation); !ok) return tl::unexpected(ok.error());
    }
    for (const auto& [acquirer, releaser, count] : owed_)
      for (int i = 0; i < count; ++i) builder_.add_wait(acquirer, {releaser}, 0);
    return builder_.take();
  }

 private:
  int self() const { return static_cast<int>(block_); }
  int rank() const { return plan_.threadblocks[block_].rank; }

  tl::unexpected<Error> wrong(const PlanOperation& operation, const std::string& what,
                              std::string expected = {}) const {
    return fail(fmt::format("{} ({}) {}", operation.way, operation.name.substr(0, 40), what),
                std::move(expected), {}, {file_});
  }

  Result<void> add(const PlanOperation& operation) {
    if (builder_.steps() > kMostAlgorithmSteps) return wrong(operation, "is one step too many");
    const std::string& name = operation.name;
    if (name == "pipeline") return add_pipeline(operation);
    if (name == "barrier") return add_barrier(operation);
    if (name == "sem_acquire" || name == "sem_release") return add_semaphores(operation);
    if (signals(operation) || waits(operation) || name == "flush") return add_links(operation);
    if (operation.sources.empty() || operation.targets.empty())
      return wrong(operation, "has no source or no target");
    if (auto ok = check_sizes(operation); !ok) return ok;
    if (moves_packets(operation)) wait_for_packets(operation);
    if (name == "glres") return add_multicast(operation);
    if (name == "put" || name == "ppkt" || name == "rppkt") return add_pairs(operation, true);
    if (name == "get" || name == "copy" || name == "cpkt" || name == "upkt")
      return add_pairs(operation, false);
    if (name == "re" || name == "rre" || name == "res" || name == "rres" || name == "repkt" ||
        name == "recpkt" || name == "respkt" || name == "recspkt")
      return add_reduction(operation);
    return wrong(operation, "is no operation that is known here");
  }

  Result<void> check_sizes(const PlanOperation& operation) const {
    const int chunks = operation.sources.front().chunks;
    for (const auto* list : {&operation.sources, &operation.targets})
      for (const PlanBuffer& buffer : *list)
        if (buffer.chunks != chunks && list->size() > 1)
          return wrong(operation, "handles buffers of unequal sizes");
    return {};
  }

  AlgorithmStep step(const PlanOperation& operation, int chunks) const {
    AlgorithmStep out;
    out.chunks = chunks;
    out.part = operation.part;
    out.parts = operation.parts;
    return out;
  }

  /// What a message from a stream becomes in another rank's memory.
  void arrive(const PlanOperation& operation, int from, int helper, const PlanBuffer& target) {
    AlgorithmStep out = step(operation, target.chunks);
    out.recv = {from};
    out.store = target.place;
    builder_.add(helper, std::move(out));
    if (moves_packets(operation)) tell_readers(helper, target);
  }

  /// Each source to its target; one source may go to several.
  Result<void> add_pairs(const PlanOperation& operation, bool sends) {
    const auto& sources = operation.sources;
    if (sources.size() != 1 && sources.size() != operation.targets.size())
      return wrong(operation, "has another number of sources than of targets");
    for (std::size_t i = 0; i < operation.targets.size(); ++i) {
      const PlanBuffer& source = sources[std::min(i, sources.size() - 1)];
      const PlanBuffer& target = operation.targets[i];
      const PlanBuffer& far = sends ? target : source;
      if ((sends ? source : target).rank != rank() || far.group != nullptr)
        return wrong(operation, "does not begin or end in the GPU's own memory");
      AlgorithmStep out = step(operation, source.chunks);
      if (source.rank == rank()) out.source = source.place;
      else out.recv = {builder_.read(self(), source.rank, out, source.place)};
      if (target.rank == rank()) {
        out.store = target.place;
        builder_.add(self(), std::move(out));
        if (moves_packets(operation)) tell_readers(self(), target);
        continue;
      }
      const int helper = builder_.helper(self(), target.rank);
      out.send = {helper};
      builder_.add(self(), std::move(out));
      arrive(operation, self(), helper, target);
    }
    return {};
  }

  /// All sources reduced, to all targets.
  Result<void> add_reduction(const PlanOperation& operation) {
    AlgorithmStep out = step(operation, operation.sources.front().chunks);
    std::map<int, int> lanes;  // reads by rank
    bool has_own = false;
    for (const PlanBuffer& source : operation.sources) {
      if (source.group != nullptr) return wrong(operation, "reads from a switch channel");
      if (source.rank == rank() && !has_own) {
        out.source = source.place;
        has_own = true;
        continue;
      }
      out.recv.push_back(builder_.read(self(), source.rank, step(operation, source.chunks),
                                       source.place, lanes[source.rank]++));
    }
    std::vector<PlanBuffer> own, remote;
    for (const PlanBuffer& target : operation.targets) {
      if (target.group != nullptr) return wrong(operation, "writes to a switch channel");
      (target.rank == rank() ? own : remote).push_back(target);
    }
    if (!own.empty()) out.store = own.front().place;
    std::map<int, int> sends;
    for (const PlanBuffer& target : remote) {
      out.send.push_back(builder_.helper(self(), target.rank));
      if (sends[target.rank]++ > 0) return wrong(operation, "sends to one GPU twice");
    }
    builder_.add(self(), std::move(out));
    for (const PlanBuffer& target : remote)
      arrive(operation, self(), builder_.helper(self(), target.rank), target);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (i > 0) {
        AlgorithmStep copy = step(operation, own[i].chunks);
        copy.source = own.front().place;
        copy.store = own[i].place;
        builder_.add(self(), std::move(copy));
      }
      if (moves_packets(operation)) tell_readers(self(), own[i]);
    }
    return {};
  }

  /// A load that the switch reduces, then a store that it multicasts. The threadblock goes on
  /// when the last member has it, as a fence after it would have it.
  Result<void> add_multicast(const PlanOperation& operation) {
    const PlanBuffer& source = operation.sources.front();
    const PlanBuffer& target = operation.targets.front();
    if (operation.sources.size() != 1 || operation.targets.size() != 1 || source.group == nullptr ||
        target.group == nullptr || source.group->empty() || target.group->empty())
      return wrong(operation, "does not reduce and multicast over a switch channel");
    const int reducer = builder_.helper(self(), AlgorithmStream::kSwitch, 0);
    const int spreader = builder_.helper(self(), AlgorithmStream::kSwitch, 1);
    AlgorithmStep reduce = step(operation, source.chunks);
    std::vector<int> readers;
    for (const int member : *source.group) readers.push_back(builder_.helper(self(), member, 0));
    builder_.add_signal(self(), readers, 0);
    for (const int reader : readers) {
      builder_.add_wait(reader, {self()}, 0);
      AlgorithmStep load = reduce;
      load.source = source.place;
      load.send = {reducer};
      builder_.add(reader, std::move(load));
    }
    AlgorithmStep pass = reduce;
    pass.recv = {reducer};
    pass.send = {spreader};
    reduce.recv = readers;
    reduce.send = {self()};
    AlgorithmStep spread = step(operation, source.chunks);
    spread.recv = {self()};
    std::vector<int> stores;
    for (const int member : *target.group) stores.push_back(builder_.helper(spreader, member));
    spread.send = stores;
    builder_.add(reducer, std::move(reduce));
    builder_.add(self(), std::move(pass));
    builder_.add(spreader, std::move(spread));
    for (const int store : stores) {
      arrive(operation, spreader, store, target);
      builder_.add_signal(store, {self()}, 0);
    }
    builder_.add_wait(self(), stores, 0);
    return {};
  }

  Result<void> add_links(const PlanOperation& operation) {
    if (operation.name == "pws" || operation.name == "pwsf")
      if (auto ok = add_pairs(operation, true); !ok) return ok;
    for (const PlanLink link : operation.links) {
      const auto& ends = plan_.links[static_cast<std::size_t>(link)];
      const int peer = ends.first == rank() ? ends.second : ends.first;
      if (signals(operation))
        if (auto ok = add_signal(operation, link, peer); !ok) return ok;
      if (waits(operation))
        if (auto ok = add_wait(operation, link, peer); !ok) return ok;
      const bool flushes = operation.name == "flush" || operation.name == "pwsf";
      if (!flushes || operation.channel != PlanChannel::port) continue;
      const int helper = builder_.helper(self(), peer);
      builder_.add_signal(self(), {helper}, 0);
      builder_.add(helper, {{}, {}, 0, 0, 1, {self()}, {self()}, 0});
      builder_.add_wait(self(), {helper}, 0);
    }
    return {};
  }

  /// The threadblock at one end of a link, where there is just one.
  Result<std::optional<int>> only(const PlanUses::Blocks& blocks, PlanLink link, int end,
                                  const PlanOperation& operation) const {
    const auto found = blocks.find({link, end});
    if (found == blocks.end()) return std::optional<int>();
    if (found->second.size() > 1)
      return wrong(operation,
                   "uses a channel that several threadblocks share: which of them is "
                   "meant is not in the file");
    return std::optional<int>(static_cast<int>(*found->second.begin()));
  }

  Result<void> add_signal(const PlanOperation& operation, PlanLink link, int peer) {
    if (auto alone = only(uses_.signallers, link, rank(), operation); !alone)
      return tl::unexpected(alone.error());
    const auto waiter = only(uses_.waiters, link, peer, operation);
    if (!waiter) return tl::unexpected(waiter.error());
    const int helper = builder_.helper(self(), peer);
    builder_.add_signal(self(), {helper}, 0);
    builder_.add_wait(helper, {self()}, 0);
    if (*waiter) builder_.add_signal(helper, {**waiter}, 0);
    return {};
  }

  Result<void> add_wait(const PlanOperation& operation, PlanLink link, int peer) {
    const auto signaller = only(uses_.signallers, link, peer, operation);
    if (!signaller) return tl::unexpected(signaller.error());
    if (!*signaller) return wrong(operation, "waits for a signal that nobody sends");
    builder_.add_wait(self(), {builder_.helper(**signaller, rank())}, 0);
    return {};
  }

  Result<void> add_barrier(const PlanOperation& operation) {
    const auto& members = uses_.barriers.at({rank(), operation.barrier});
    const auto [hub, is_new] = hubs_.try_emplace({rank(), operation.barrier}, 0);
    if (is_new) hub->second = builder_.add_stream(rank());
    builder_.add_signal(self(), {hub->second}, 0);
    builder_.add_wait(self(), {hub->second}, 0);
    if (block_ != *members.begin()) return {};
    const std::vector<int> all(members.begin(), members.end());
    builder_.add(hub->second, {{}, {}, 0, 0, 1, all, all, 0});
    return {};
  }

  /// A semaphore that starts above zero lets the first ones pass: as if it had been released
  /// before, and what is left over at the end is taken then.
  Result<void> start_semaphores() {
    for (std::size_t r = 0; r < plan_.semaphores.size(); ++r)
      for (std::size_t s = 0; s < plan_.semaphores[r].size(); ++s) {
        const std::pair key{static_cast<int>(r), static_cast<int>(s)};
        const auto acquirers = uses_.acquirers.find(key), releasers = uses_.releasers.find(key);
        if (acquirers == uses_.acquirers.end() || releasers == uses_.releasers.end()) continue;
        if (acquirers->second.size() > 1 || releasers->second.size() > 1)
          return fail(fmt::format("semaphore {} of GPU {} is shared by several threadblocks", s, r),
                      "one that acquires and one that releases", {}, {file_});
        const auto acquirer = static_cast<int>(*acquirers->second.begin());
        const auto releaser = static_cast<int>(*releasers->second.begin());
        if (acquirer == releaser) continue;
        const int start = plan_.semaphores[r][s];
        for (int i = 0; i < start; ++i) builder_.add_signal(releaser, {acquirer}, 0);
        owed_.push_back({acquirer, releaser, start});
      }
    return {};
  }

  Result<void> add_semaphores(const PlanOperation& operation) {
    for (const int semaphore : operation.semaphores) {
      const std::pair key{rank(), semaphore};
      const bool takes = operation.name == "sem_acquire";
      const PlanUses::Blocks& others = takes ? uses_.releasers : uses_.acquirers;
      const auto other = others.find(key);
      if (other == others.end()) {
        const int start =
            plan_.semaphores[static_cast<std::size_t>(rank())][static_cast<std::size_t>(semaphore)];
        if (takes && uses_.acquires.at(key) > static_cast<std::size_t>(start))
          return wrong(operation, "acquires a semaphore that nobody releases");
        continue;
      }
      const auto peer = static_cast<int>(*other->second.begin());
      if (peer == self()) continue;
      if (takes) builder_.add_wait(self(), {peer}, 0);
      else builder_.add_signal(self(), {peer}, 0);
    }
    return {};
  }

  Result<void> add_pipeline(const PlanOperation& operation) {
    builder_.begin_loop();
    for (const PlanOperation& inner : operation.inner)
      if (auto ok = add(inner); !ok) return ok;
    builder_.end_loop(operation.loop_chunks, operation.unit_bytes);
    return {};
  }

  /// Once packets are in memory: a signal to each threadblock that reads some of them.
  void tell_readers(int writer, const PlanBuffer& target) {
    if (target.place.buffer != AlgorithmPlace::Buffer::scratch) return;
    // Writes of one threadblock to one rank are met in the order in which they were found.
    const auto& writes = uses_.writes.at(target.rank);
    std::size_t& next = next_write_[{block_, target.rank}];
    while (writes[next].packets.block != block_) ++next;
    for (const std::size_t reader : writes[next++].readers)
      builder_.add_signal(writer, {static_cast<int>(reader)}, 0);
  }

  /// For as many signals of each writer as there are up to the last packet that is read.
  void wait_for_packets(const PlanOperation& operation) {
    const auto all = uses_.writes.find(rank());
    if (all == uses_.writes.end()) return;
    for (const PlanBuffer& source : operation.sources) {
      if (source.place.buffer != AlgorithmPlace::Buffer::scratch || source.rank != rank()) continue;
      const PacketUse read = packet_use(block_, operation, source);
      std::map<int, int> told, needed;  // by writer
      for (const PlanUses::Write& write : all->second) {
        if (!write.readers.contains(block_)) continue;
        const auto owner = static_cast<int>(write.packets.block);
        const int writer = plan_.threadblocks[write.packets.block].rank == rank()
                               ? owner
                               : builder_.helper(owner, rank());
        ++told[writer];
        if (write.packets.overlaps(read)) needed[writer] = told[writer];
      }
      for (const auto& [writer, count] : needed)
        for (int& had = heard_[{block_, writer}]; had < count; ++had)
          builder_.add_wait(self(), {writer}, 0);
    }
  }

  struct Owed {
    int acquirer, releaser, count;
  };

  const ExecutionPlan& plan_;
  PlanUses uses_;
  std::string file_;
  StreamBuilder builder_;
  std::size_t block_ = 0;
  std::map<std::pair<int, int>, int> hubs_;  ///< by rank and barrier
  std::vector<Owed> owed_;
  std::map<std::pair<std::size_t, int>, std::size_t> next_write_;  ///< by threadblock and rank
  std::map<std::pair<std::size_t, int>, int> heard_;  ///< signals, by reader and writer
};

}  // namespace

Result<Algorithm> read_mscclpp_plan(std::string_view text, const std::string& file) {
  const auto plan = parse_plan(text, file);
  if (!plan) return tl::unexpected(plan.error());
  auto uses = PlanUses::find(*plan);
  if (!uses) {
    uses.error().where = {file};
    return tl::unexpected(uses.error());
  }
  auto streams = PlanStreams(*plan, *std::move(uses), file).make();
  if (!streams) return tl::unexpected(streams.error());
  Algorithm algorithm = plan->head;
  algorithm.streams = *std::move(streams);
  return algorithm;
}

}  // namespace isleway::formats
