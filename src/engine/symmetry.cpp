// Colours, refined until they are stable (Paige and Tarjan, "Three Partition Refinement
// Algorithms", 1987, in the plain form): streams start with the colour of their role, links with
// that of their rate, and whatever is joined to differently coloured things gets another colour.
// Then all members of a colour have, at any time, the same messages, credits, rates and ends.
#include "engine/symmetry.hpp"

#include <algorithm>
#include <map>

#include "engine/mix.hpp"

namespace isleway {
namespace {

using Colours = std::vector<std::uint64_t>;

// A division that is not stable by then would have many small sets: one slow link changes its
// neighbours, these theirs, all round a ring.
constexpr int kMostRounds = 12;

/// How many different colours there are.
std::size_t distinct(const Colours& colours) {
  std::size_t slots = 16;
  while (slots < 2 * colours.size()) slots *= 2;
  std::vector<std::uint64_t> table(slots, 0);
  std::size_t found = 0;
  for (const std::uint64_t colour : colours) {
    const std::uint64_t key = colour | 1;
    std::size_t i = (colour >> 8) & (slots - 1);
    while (table[i] != 0 && table[i] != key) i = (i + 1) & (slots - 1);
    if (table[i] == 0) ++found;
    table[i] = key;
  }
  return found;
}

/// Colours numbered by first appearance.
struct Sets {
  explicit Sets(const Colours& colours) : of(colours.size()) {
    std::unordered_map<std::uint64_t, std::uint32_t> known;
    for (std::size_t i = 0; i < colours.size(); ++i) {
      const auto [found, is_new] =
          known.try_emplace(colours[i], static_cast<std::uint32_t>(first.size()));
      if (is_new) {
        first.push_back(static_cast<std::uint32_t>(i));
        members.push_back(0);
      }
      of[i] = found->second;
      ++members[found->second];
    }
  }
  bool is_first(std::uint32_t i) const { return first[of[i]] == i; }
  std::vector<std::uint32_t> of, first, members;
};

std::uint64_t price(const Connection& c) {
  std::uint64_t colour =
      mix(static_cast<std::uint64_t>(c.latency.ps()), static_cast<std::uint64_t>(c.overhead.ps()));
  colour = mix_real(colour, c.wire_expansion);
  colour = mix_real(colour, c.cap.bytes_per_second());
  return mix(colour, static_cast<std::uint64_t>(c.credits) * 2 + (c.mover == Mover::sm ? 0 : 1));
}

class Refinement {
 public:
  Refinement(const Scenario& scenario, const Calls& calls, LinkUse& links)
      : scenario_(scenario), calls_(calls), links_(links) {}

  std::optional<Folding> run();

 private:
  /// A connection; where it stands among its sender's sends, and the other way round.
  struct Joint {
    std::uint32_t from, to;  ///< streams
    std::uint32_t carrier;
    Connection connection;
  };
  struct End {
    PipeKey key;
    std::uint32_t stream, slot;
  };

  bool colour_streams();
  bool join_all();
  bool join(const Job& job, std::uint32_t base, const std::vector<End>& sends,
            const std::vector<End>& receives);
  void colour_links();
  void refine();
  std::size_t colours() const {
    return distinct(stream_) + distinct(joint_) + distinct(carrier_) + distinct(resource_);
  }
  std::uint32_t stream_count(const Job& job) const {
    return static_cast<std::uint32_t>(job.schedule->agents()) *
           static_cast<std::uint32_t>(job.schedule->streams());
  }
  Folding folding() const;
  void fold_links(Folding& folding, const Sets& carriers, const Sets& resources) const;

  const Scenario& scenario_;
  const Calls& calls_;
  LinkUse& links_;
  std::vector<std::uint32_t> base_;  ///< of each call's streams; one entry more
  std::vector<Joint> joints_;
  Carriers carriers_;
  Colours stream_, joint_, carrier_, resource_;
  Colours stream_sum_, carrier_sum_, resource_sum_;
};

bool Refinement::colour_streams() {
  base_.push_back(0);
  for (std::uint32_t call = 0; call < calls_.first.size(); ++call) {
    const Schedule& schedule = *calls_.first[call]->schedule;
    for (std::int32_t agent = 0; agent < schedule.agents(); ++agent)
      for (std::int32_t s = 0; s < schedule.streams(); ++s)
        stream_.push_back(
            mix(mix(call, schedule.role({agent, s})), agent < schedule.ranks() ? 1u : 0u));
    base_.push_back(static_cast<std::uint32_t>(stream_.size()));
  }
  return distinct(stream_) * 4 <= stream_.size() * 3;
}

bool Refinement::join_all() {
  Peers peers;
  std::vector<End> sends, receives;
  for (std::size_t call = 0; call < calls_.first.size(); ++call) {
    const Job& job = *calls_.first[call];
    const auto streams = static_cast<std::uint32_t>(job.schedule->streams());
    const std::uint32_t count = stream_count(job);
    sends.clear();
    receives.clear();
    for (std::uint32_t s = 0; s < count; ++s) {
      job.schedule->peers(
          {static_cast<std::int32_t>(s / streams), static_cast<std::int32_t>(s % streams)}, peers);
      const auto number = [&](Port port) {
        return static_cast<std::uint32_t>(port.agent) * streams +
               static_cast<std::uint32_t>(port.stream);
      };
      std::uint32_t slot = 0;
      for (const Port to : peers.sends) sends.push_back({pipe_key(s, number(to)), s, slot++});
      slot = 0;
      for (const Port from : peers.receives)
        receives.push_back({pipe_key(number(from), s), s, slot++});
    }
    std::ranges::sort(sends, {}, &End::key);
    std::ranges::sort(receives, {}, &End::key);
    if (!join(job, base_[call], sends, receives)) return false;
  }
  return true;
}

bool Refinement::join(const Job& job, std::uint32_t base, const std::vector<End>& sends,
                      const std::vector<End>& receives) {
  if (sends.size() != receives.size()) return false;
  const auto streams = static_cast<std::uint32_t>(job.schedule->streams());
  const auto port = [&](std::uint32_t s) {
    return Port{static_cast<std::int32_t>(s / streams), static_cast<std::int32_t>(s % streams)};
  };
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const End &out = sends[i], &in = receives[i];
    if (out.key != in.key || in.stream >= stream_count(job)) return false;
    const auto connection =
        checked_connection(*job.schedule, *job.wiring, port(out.stream), port(in.stream));
    if (!connection) return false;
    joint_.push_back(mix(price(*connection), std::uint64_t{out.slot} << 32 | in.slot));
    joints_.push_back({base + out.stream, base + in.stream,
                       carriers_.number(links_, *connection).first, *connection});
  }
  return true;
}

void Refinement::colour_links() {
  const auto& capacities = links_.capacities();
  for (const Carriers::Carrier& carrier : carriers_.all())
    carrier_.push_back(mix_real(0, carrier.cap));
  for (const double capacity : capacities) resource_.push_back(mix_real(1, capacity));
  for (const LinkChange& change : scenario_.changes)
    for (const std::uint32_t r : links_.resources_of(change.link))
      resource_[r] =
          mix_real(mix(resource_[r], static_cast<std::uint64_t>(change.at.ps())), change.share);
  carrier_sum_.resize(carrier_.size());
  resource_sum_.resize(resource_.size());
  stream_sum_.resize(stream_.size());
}

/// One round: everything takes in the colours of what it is joined to.
void Refinement::refine() {
  std::ranges::fill(resource_sum_, 0);
  for (std::size_t c = 0; c < carrier_.size(); ++c)
    for (const Usage& use : links_.uses(carriers_.all()[c].way))
      resource_sum_[use.resource] += mix_real(carrier_[c], use.weight);
  for (std::size_t r = 0; r < resource_.size(); ++r)
    resource_[r] = mix(resource_[r], resource_sum_[r]);

  std::ranges::fill(carrier_sum_, 0);
  for (std::size_t j = 0; j < joints_.size(); ++j)
    carrier_sum_[joints_[j].carrier] += mix(joint_[j], std::uint64_t{2});
  for (std::size_t c = 0; c < carrier_.size(); ++c) {
    for (const Usage& use : links_.uses(carriers_.all()[c].way))
      carrier_sum_[c] += mix_real(resource_[use.resource], use.weight);
    carrier_[c] = mix(carrier_[c], carrier_sum_[c]);
  }

  std::ranges::fill(stream_sum_, 0);
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const Joint& joint = joints_[j];
    joint_[j] =
        mix(mix(joint_[j], carrier_[joint.carrier]), mix(stream_[joint.from], stream_[joint.to]));
    // The slots are part of the colour.
    stream_sum_[joint.from] += mix(joint_[j], std::uint64_t{3});
    stream_sum_[joint.to] += mix(joint_[j], std::uint64_t{4});
  }
  for (std::size_t s = 0; s < stream_.size(); ++s) stream_[s] = mix(stream_[s], stream_sum_[s]);
}

void Refinement::fold_links(Folding& folding, const Sets& carriers, const Sets& resources) const {
  folding.resource_set = resources.of;
  folding.carrier_set = carriers.of;
  for (const std::uint32_t r : resources.first) folding.capacity.push_back(links_.capacities()[r]);
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> weight;  // by class and resource
  for (std::uint32_t c = 0; c < carriers_.all().size(); ++c)
    for (const Usage& use : links_.uses(carriers_.all()[c].way))
      if (resources.is_first(use.resource))
        weight[{carriers.of[c], resources.of[use.resource]}] += quantised_weight(use.weight);
  folding.classes.resize(carriers.first.size());
  for (std::size_t set = 0; set < folding.classes.size(); ++set) {
    folding.classes[set].cap = carriers_.all()[carriers.first[set]].cap;
    folding.classes[set].members = carriers.members[set];
  }
  for (const auto& [key, sum] : weight)
    folding.classes[key.first].uses.push_back({key.second, sum});
}

Folding Refinement::folding() const {
  Folding folding;
  const Sets streams(stream_), joints(joint_), carriers(carrier_), resources(resource_);
  fold_links(folding, carriers, resources);
  folding.carriers = carriers_;
  folding.calls.resize(calls_.first.size());
  std::vector<StreamId> place(streams.first.size());  // of a set's first stream, in its call
  for (std::size_t call = 0; call < folding.calls.size(); ++call) {
    FoldedStreams& folded = folding.calls[call];
    for (std::uint32_t s = base_[call]; s < base_[call + 1]; ++s) {
      const std::uint32_t set = streams.of[s];
      if (streams.first[set] == s) {
        place[set] = static_cast<StreamId>(folded.chosen.size());
        folded.chosen.push_back(s - base_[call]);
      }
      folded.stands_in.push_back(place[set]);
    }
  }
  std::vector<PipeId> pipe_of_set(joints.first.size(), UINT32_MAX);
  std::size_t call = 0;
  for (std::uint32_t j = 0; j < joints_.size(); ++j) {
    const Joint& joint = joints_[j];
    while (joint.from >= base_[call + 1]) ++call;
    if (!streams.is_first(joint.from) && !streams.is_first(joint.to)) continue;
    FoldedStreams& folded = folding.calls[call];
    const std::uint32_t set = joints.of[j];
    if (pipe_of_set[set] == UINT32_MAX) {
      pipe_of_set[set] = static_cast<PipeId>(folded.pipes.size());
      Pipe pipe;
      pipe.from = place[streams.of[joint.from]];
      pipe.to = place[streams.of[joint.to]];
      pipe.connection = joint.connection;
      pipe.flow_class = carriers.of[joint.carrier];
      pipe.copies = joints.members[set] / carriers.members[pipe.flow_class];
      folded.pipes.push_back(pipe);
    }
    folded.pipe_of[pipe_key(joint.from - base_[call], joint.to - base_[call])] = pipe_of_set[set];
  }
  return folding;
}

std::optional<Folding> Refinement::run() {
  if (!colour_streams() || !join_all()) return std::nullopt;
  colour_links();
  std::size_t before = 0, now = colours();
  for (int round = 0; now != before; ++round) {
    if (round == kMostRounds || distinct(stream_) * 4 > stream_.size() * 3) return std::nullopt;
    before = now;
    refine();
    now = colours();
  }
  return folding();
}

}  // namespace

Calls::Calls(const Scenario& scenario) {
  std::map<std::pair<const Schedule*, const Wiring*>, std::uint32_t> known;
  for (const Job& job : scenario.jobs) {
    if (job.schedule == nullptr) {
      call_of.push_back(UINT32_MAX);
      continue;
    }
    const auto [found, is_new] =
        known.try_emplace({job.schedule, job.wiring}, static_cast<std::uint32_t>(first.size()));
    if (is_new) first.push_back(&job);
    call_of.push_back(found->second);
  }
}

std::optional<Folding> fold(const Scenario& scenario, const Calls& calls, LinkUse& links) {
  // Each flow of other traffic has a way and a time of its own.
  if (calls.first.empty() || scenario.traffic != nullptr) return std::nullopt;
  return Refinement(scenario, calls, links).run();
}

}  // namespace isleway
