// The packet engine: every stream runs its program, every message is packets.
#include "isleway/engine/packet.hpp"

#include <algorithm>
#include <thread>

#include "engine/link_use.hpp"
#include "engine/packet/region.hpp"

namespace isleway {
namespace {

class PacketSimulation {
 public:
  PacketSimulation(const PacketOptions& options, const Fabric& fabric, const Schedule& schedule,
                   const Wiring& wiring, Recorder* recorder, Division division)
      : options_(options),
        fabric_(fabric),
        schedule_(schedule),
        wiring_(wiring),
        recorder_(recorder),
        division_(std::move(division)),
        wires_(fabric, options, division_.regions),
        post_(division_.regions.count()),
        shared_{schedule, wiring, wires_, post_, recorder, regions_} {}

  Result<Outcome> run();

 private:
  Result<void> make_regions();
  Result<void> connect(const Division::Made& made, std::size_t number);
  std::vector<std::unique_ptr<FoldedStreams>> streams_by_region();
  unsigned threads() const;
  std::int64_t moving() const;
  Outcome outcome();

  /// A connection's pipe where its sender is, and where its receiver is.
  struct Pipes {
    PipeId from, to;
  };

  const PacketOptions& options_;
  const Fabric& fabric_;
  const Schedule& schedule_;
  const Wiring& wiring_;
  Recorder* recorder_;
  Division division_;
  Wires wires_;
  Post post_;
  std::vector<std::unique_ptr<RegionSimulation>> regions_;
  std::vector<Pipes> pipes_;  ///< by connection of the division
  RegionSimulation::Shared shared_;
};

/// Which streams live in which region, and the pipes that they know of: one between regions is
/// in both.
std::vector<std::unique_ptr<FoldedStreams>> PacketSimulation::streams_by_region() {
  const std::uint32_t count = division_.regions.count();
  const auto streams = static_cast<StreamId>(schedule_.streams());
  std::vector<std::unique_ptr<FoldedStreams>> all;
  std::vector<std::unordered_map<StreamId, StreamId>> places(count);
  for (std::uint32_t r = 0; r < count; ++r) all.push_back(std::make_unique<FoldedStreams>());
  const auto place = [&](std::uint32_t region, Port port) {
    const StreamId stream =
        static_cast<StreamId>(port.agent) * streams + static_cast<StreamId>(port.stream);
    std::vector<StreamId>& chosen = all[region]->chosen;
    const auto [found, is_new] =
        places[region].try_emplace(stream, static_cast<StreamId>(chosen.size()));
    if (is_new) chosen.push_back(stream);
    return found->second;
  };
  for (std::int32_t agent = 0; agent < schedule_.agents(); ++agent)
    for (std::int32_t s = 0; s < schedule_.streams(); ++s)
      place(division_.of_agent[static_cast<std::size_t>(agent)], {agent, s});
  for (auto& one : all) one->running = one->chosen.size();
  for (const Division::Made& made : division_.connections) {
    const auto add = [&](std::uint32_t region) {
      FoldedStreams& folded = *all[region];
      Pipe pipe;
      pipe.from = place(region, made.from);
      pipe.to = place(region, made.to);
      pipe.connection = made.connection;
      const auto id = static_cast<PipeId>(folded.pipes.size());
      folded.pipe_of.emplace(pipe_key(folded.chosen[pipe.from], folded.chosen[pipe.to]), id);
      folded.pipes.push_back(pipe);
      return id;
    };
    const std::uint32_t from = division_.of_agent[static_cast<std::size_t>(made.from.agent)];
    const std::uint32_t to = division_.of_agent[static_cast<std::size_t>(made.to.agent)];
    const PipeId sender = add(from);
    pipes_.push_back({sender, from == to ? sender : add(to)});
  }
  return all;
}

Result<void> PacketSimulation::connect(const Division::Made& made, std::size_t number) {
  const std::uint32_t from = division_.of_agent[static_cast<std::size_t>(made.from.agent)];
  const std::uint32_t to = division_.of_agent[static_cast<std::size_t>(made.to.agent)];
  const auto sender = regions_[from]->connect(pipes_[number].from);
  if (!sender) return tl::unexpected(sender.error());
  if (from == to) return {};
  const auto receiver = regions_[to]->connect(pipes_[number].to);
  if (!receiver) return tl::unexpected(receiver.error());
  regions_[from]->join(*sender, {to, *receiver});
  regions_[to]->join(*receiver, {from, *sender});
  return {};
}

Result<void> PacketSimulation::make_regions() {
  if (recorder_ != nullptr) recorder_->run_begins();
  if (division_.regions.count() == 1) {
    regions_.push_back(std::make_unique<RegionSimulation>(shared_, 0, nullptr));
    return {};
  }
  auto streams = streams_by_region();
  for (std::uint32_t r = 0; r < division_.regions.count(); ++r)
    regions_.push_back(std::make_unique<RegionSimulation>(shared_, r, std::move(streams[r])));
  // While nothing runs, so that ports and ways are there when regions run beside one another.
  for (std::size_t i = 0; i < division_.connections.size(); ++i)
    if (auto connected = connect(division_.connections[i], i); !connected) return connected;
  return {};
}

unsigned PacketSimulation::threads() const {
  if (recorder_ != nullptr) return 1;
  const unsigned wanted = options_.threads > 0 ? static_cast<unsigned>(options_.threads)
                                               : std::thread::hardware_concurrency();
  return std::clamp(wanted, 1U, division_.regions.count());
}

Result<Outcome> PacketSimulation::run() {
  if (auto made = make_regions(); !made) return tl::unexpected(made.error());
  std::vector<Process*> processes;
  for (const auto& region : regions_) processes.push_back(region.get());
  run_windows(processes, division_.regions.lookahead(), threads());
  for (const auto& region : regions_)
    if (region->error()) return tl::unexpected(*region->error());
  for (const auto& region : regions_)
    if (const auto stuck = region->stuck()) return tl::unexpected(*stuck);
  return outcome();
}

/// How long a message was leaving anywhere.
std::int64_t PacketSimulation::moving() const {
  std::vector<RegionSimulation::Moving> all;
  for (const auto& region : regions_)
    all.insert(all.end(), region->moving().begin(), region->moving().end());
  std::ranges::sort(all, {}, &RegionSimulation::Moving::begin);
  std::int64_t sum = 0, until = 0;
  for (const auto& [begin, end] : all) {
    sum += std::max<std::int64_t>(0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  return sum;
}

Outcome PacketSimulation::outcome() {
  Outcome result;
  const Time around = wiring_.start() + wiring_.finish();
  std::int64_t end = 0, busy = 0, last = 0;
  double bytes = 0, capped = 0;
  LinkUse links(fabric_);
  for (const auto& region : regions_) {
    end = std::max(end, region->last_end());
    busy = std::max(busy, region->busiest());
    last = std::max(last, region->last_event());
    result.events += region->events();
    bytes += region->transport().bytes();
    capped += region->transport().capped_bytes();
    for (const auto& sent : region->sent())
      links.add(links.way(sent.route, sent.mover), sent.bytes);
  }
  result.time = around + Time::ps(end);
  result.busy = around + Time::ps(busy);
  result.limited_by_sender = capped > 0.5 * bytes;
  if (result.time > Time())
    result.latency_share = static_cast<double>((around + Time::ps(last - moving())).ps()) /
                           static_cast<double>(result.time.ps());
  links.report(result);
  result.counters = wires_.ports().counters();
  return result;
}

class PacketEngine final : public Engine {
 public:
  PacketEngine(const PacketOptions& options, Recorder* recorder)
      : options_(options), recorder_(recorder) {}
  std::string name() const override { return "packet"; }
  Result<Outcome> run(const Fabric& fabric, const Schedule& schedule,
                      const Wiring& wiring) const override {
    auto division = divide(fabric, schedule, wiring);
    if (!division) return tl::unexpected(division.error());
    return PacketSimulation(options_, fabric, schedule, wiring, recorder_, *std::move(division))
        .run();
  }

 private:
  PacketOptions options_;
  Recorder* recorder_;
};

}  // namespace

std::unique_ptr<Engine> make_packet_engine(const PacketOptions& options, Recorder* recorder) {
  return std::make_unique<PacketEngine>(options, recorder);
}

}  // namespace isleway
