#include "engine/packet/ports.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace isleway {
namespace {

constexpr double kPicoseconds = 1e-12;

/// Scatters numbers that differ in few bits (SplitMix64's finaliser).
std::uint64_t scattered(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

Lane& CablePort::lane_from(PortId input) {
  std::uint8_t& hint = lane_hint[input % lane_hint.size()];
  if (hint < lanes.size() && lanes[hint].input == input) return lanes[hint];
  auto lane = std::ranges::find(lanes, input, &Lane::input);
  if (lane == lanes.end()) {
    lanes.push_back({});
    lane = lanes.end() - 1;
    lane->input = input;
  }
  hint = static_cast<std::uint8_t>(std::min<std::ptrdiff_t>(lane - lanes.begin(), UINT8_MAX));
  return *lane;
}

void CablePort::hear_of(const CreditReturn& back) {
  returns.push_back(back);
  for (std::size_t i = returns.size() - 1; i > 0 && returns[i - 1].at > returns[i].at; --i)
    std::swap(returns[i - 1], returns[i]);
}

bool Ports::ethernet(const Link& link) const {
  return link.kind == LinkKind::network && fabric_.network().plan().technology == "ethernet";
}

link::Spreading Ports::spreading(const Link& link) const {
  if (link.kind != LinkKind::network) return link::Spreading::striped;
  if (options_.spreading) return *options_.spreading;
  return ethernet(link) ? link::Spreading::hashed : link::Spreading::adaptive;
}

void Ports::add_port(LinkId id, const Link& link, bool forward, double cables, bool choice) {
  CablePort port;
  port.link = id;
  port.forward = forward;
  port.latency = link.latency.ps();
  port.rate = link.rate().bytes_per_second() * kPicoseconds * cables / std::max<int>(1, link.count);
  port.ethernet = ethernet(link);
  port.fec = options_.rules.has_fec(link);
  if (link.kind == LinkKind::nvlink && options_.bit_error_rate > 0)
    port.errors = link::BitErrors(options_.bit_error_rate, options_.seed,
                                  std::uint64_t{id} << 1 | (forward ? 1 : 0));
  port.faulty = port.errors.possible();
  port.has_choice = choice;
  if (options_.flow_control) {
    // A round trip at line rate, and what may be under way when it is noticed that it is full.
    const double round_trip = 2 * static_cast<double>(port.latency) * port.rate;
    const auto least = static_cast<std::int64_t>(options_.rules.buffer_round_trips * round_trip) +
                       4 * std::max<std::int64_t>(options_.shortest_train.count(), 4096);
    link::Gate::Rules rules{.limit_bytes = least, .limit_packets = 0, .resume_bytes = -1};
    if (port.ethernet) {
      rules.limit_bytes = std::max(least, options_.rules.switch_buffer.count());
      rules.resume_bytes = rules.limit_bytes - options_.rules.pause_resume_gap.count();
    }
    // Packets of a long train go on while others of it arrive: it is not held back until there is
    // room for all of it.
    rules.most_at_once = rules.limit_bytes / 4;
    std::ranges::fill(port.gates, link::Gate(rules));
  }
  ports_.push_back(std::move(port));
  busy_until_.push_back(0);
}

void Ports::set_members(LinkId id, bool forward, Bundle& bundle) const {
  if (id < fabric_.first_trunk()) return;
  const auto ends = fabric_.network().trunk_ends()[id - fabric_.first_trunk()];
  const auto members = [&](std::uint32_t s) {
    return static_cast<std::uint32_t>(std::max(1, fabric_.network().switches()[s].members));
  };
  bundle.from_members = members(forward ? ends.a : ends.b);
  bundle.to_members = members(forward ? ends.b : ends.a);
}

std::uint32_t Ports::bundle(LinkId id, bool forward) {
  const std::uint64_t key = std::uint64_t{id} << 1 | (forward ? 1 : 0);
  const auto [found, is_new] =
      bundle_of_.try_emplace(key, static_cast<std::uint32_t>(bundles_.size()));
  if (!is_new) return found->second;
  const std::uint32_t number = found->second;
  const Link& link = fabric_.link(id);
  Bundle bundle;
  bundle.spreading = spreading(link);
  bundle.region = regions_.of(id);
  bundle.first = static_cast<PortId>(ports_.size());
  const bool striped = bundle.spreading == link::Spreading::striped;
  bundle.count = striped ? 1U : std::max<std::uint32_t>(1, link.count);
  if (!striped) set_members(id, forward, bundle);
  for (std::uint32_t i = 0; i < bundle.count; ++i)
    add_port(id, link, forward, striped ? link.count : 1, bundle.count > 1);
  bundles_.push_back(bundle);

  // Acknowledgements and credits of copy engines take room in the other direction.
  if (const double duplex = link.efficiency.duplex; duplex < 1 && duplex > 0) {
    const Bundle back = bundles_[this->bundle(id, !forward)];
    for (std::uint32_t i = 0; i < std::min(back.count, bundle.count); ++i) {
      ports_[bundle.first + i].reverse = back.first + i;
      ports_[bundle.first + i].reverse_cost = 1 / duplex - 1;
    }
  }
  return number;
}

PortId Ports::choose_among(std::uint32_t id, std::uint32_t& member, std::uint32_t flow,
                           std::int64_t now) {
  Bundle& bundle = bundles_[id];
  // Cable i joins member i mod n of the group at each of its ends, as a plane of spines is
  // cabled to a plane of cores.
  const std::uint32_t first = member % bundle.from_members % bundle.count;
  const std::uint32_t choices =
      (bundle.count - first + bundle.from_members - 1) / bundle.from_members;
  std::uint32_t taken = 0;
  if (bundle.spreading == link::Spreading::hashed) {
    taken = static_cast<std::uint32_t>(scattered(flow ^ scattered(id)) % choices);
  } else {
    // The shortest queue; among equals any, lest switches that do the same in step meet.
    const auto start =
        static_cast<std::uint32_t>(scattered(std::uint64_t{id} << 32 | bundle.turn++) % choices);
    const std::int64_t* until = busy_until_.data() + bundle.first + first;
    const std::size_t stride = bundle.from_members;
    std::int64_t best = INT64_MAX;
    const auto look = [&](std::uint32_t begin, std::uint32_t end) {
      for (std::uint32_t i = begin; i < end && best > now; ++i)  // not beyond one that is free
        if (until[i * stride] < best) {
          best = until[i * stride];
          taken = i;
        }
    };
    look(start, choices);
    look(0, start);
  }
  const std::uint32_t cable = first + taken * bundle.from_members;
  member = cable % bundle.to_members;
  return bundle.first + cable;
}

std::vector<LinkCounters> Ports::counters() const {
  std::map<std::pair<LinkId, bool>, link::Counters> sums;
  for (const CablePort& port : ports_)
    if (port.counters.packets > 0) {
      link::Counters& sum = sums[{port.link, !port.forward}];
      sum += port.counters;
      for (const link::Gate& gate : port.gates) sum.pauses += gate.pauses();
    }
  std::vector<LinkCounters> all;
  for (const auto& [key, sum] : sums) all.push_back({key.first, !key.second, sum});
  return all;
}

}  // namespace isleway
