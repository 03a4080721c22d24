#include "isleway/plan/interconnect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "isleway/fabric/join.hpp"

namespace isleway::plan {
namespace {

/// Larger groups are extrapolated from two of these sizes: their rings and trees only grow
/// longer, which costs latency.
constexpr int kMostHosts = 8;
constexpr int kMostRanks = 16;
constexpr std::int64_t kSmallest = std::int64_t{64} << 10;
constexpr std::int64_t kLargest = std::int64_t{4} << 30;
constexpr std::int64_t kFactor = 4;

std::vector<GpuId> members(const GroupShape& shape) {
  std::vector<GpuId> ranks;
  for (int outer = 0; outer < shape.count[1]; ++outer)
    for (int inner = 0; inner < shape.count[0]; ++inner)
      ranks.push_back(static_cast<GpuId>(outer * shape.stride[1] + inner * shape.stride[0]));
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::set<std::uint32_t> hosts_of(const Fabric& fabric, const std::vector<GpuId>& ranks) {
  std::set<std::uint32_t> hosts;
  for (const GpuId rank : ranks) hosts.insert(fabric.host_of(fabric.gpu(rank)));
  return hosts;
}

bool one_domain(const Fabric& fabric, const std::vector<GpuId>& ranks) {
  return std::all_of(ranks.begin(), ranks.end(), [&](GpuId rank) {
    return fabric.island_of(rank) == fabric.island_of(ranks.front());
  });
}

/// Half as many ranks, from the dimension that is spread furthest. Nothing for a pair.
std::optional<GroupShape> halved(const GroupShape& shape) {
  GroupShape half = shape;
  const std::size_t outer = shape.count[1] > 1 ? 1 : 0;
  if (shape.ranks() < 4 || half.count[outer] < 2) return std::nullopt;
  half.count[outer] = (half.count[outer] + 1) / 2;
  return half;
}

LinkKind slowest_tier(const Fabric& fabric, const std::vector<GpuId>& ranks) {
  if (hosts_of(fabric, ranks).size() > 1 && !one_domain(fabric, ranks)) return LinkKind::network;
  return one_domain(fabric, ranks) ? LinkKind::nvlink : LinkKind::pcie;
}

/// Bytes on the link that decides, over those of the call: what more ranks change at large sizes.
double share_on_the_way(const Fabric& fabric, Collective collective,
                        const std::vector<GpuId>& ranks) {
  const auto n = static_cast<double>(ranks.size());
  if (collective != Collective::all_to_all || slowest_tier(fabric, ranks) != LinkKind::network)
    return bus_factor(collective, static_cast<int>(ranks.size()));
  // What stays in the host takes another way.
  const std::uint32_t host = fabric.host_of(fabric.gpu(ranks.front()));
  const auto near = std::count_if(ranks.begin(), ranks.end(), [&](GpuId rank) {
    return fabric.host_of(fabric.gpu(rank)) == host;
  });
  return (n - static_cast<double>(near)) / n;
}

bool too_large(const Fabric& fabric, const GroupShape& shape) {
  const auto ranks = members(shape);
  const auto hosts = hosts_of(fabric, ranks).size();
  if (hosts == 2 && !one_domain(fabric, ranks)) return false;  // no smaller one crosses the way
  return shape.ranks() > kMostRanks || hosts > static_cast<std::size_t>(kMostHosts);
}

/// How many groups share a NIC that one of them could fill: all of a host's GPUs are in some
/// group of this shape, and each group uses the NICs nearest to its own.
double groups_per_nic(const Fabric& fabric, const std::vector<GpuId>& ranks) {
  if (slowest_tier(fabric, ranks) != LinkKind::network) return 1;
  const DeviceRef first = fabric.gpu(ranks.front());
  const Unit& unit = fabric.unit(first.unit);
  const int host = unit.device(first.device).host;
  double all = 0, own = 0;
  std::set<DeviceIndex> nics, used;
  for (const DeviceIndex gpu : unit.gpus()) {
    if (unit.device(gpu).host != host) continue;
    ++all;
    if (const auto nic = nearest_nic(unit, gpu)) {
      nics.insert(*nic);
      const GpuId id = fabric.gpu_id({first.unit, gpu});
      if (!std::binary_search(ranks.begin(), ranks.end(), id)) continue;
      ++own;
      used.insert(*nic);
    }
  }
  if (own == 0 || nics.empty()) return 1;
  return std::max(1.0,
                  all / own * static_cast<double>(used.size()) / static_cast<double>(nics.size()));
}

}  // namespace

double CostCurve::seconds(double bytes) const {
  if (bytes <= 0 || log_bytes.empty()) return 0;
  const double x = std::log(bytes);
  if (x <= log_bytes.front()) return floor;
  if (x >= log_bytes.back())
    return std::exp(log_seconds.back()) * bytes / std::exp(log_bytes.back());
  const auto above = std::upper_bound(log_bytes.begin(), log_bytes.end(), x);
  const auto i = static_cast<std::size_t>(above - log_bytes.begin());
  const double share = (x - log_bytes[i - 1]) / (log_bytes[i] - log_bytes[i - 1]);
  return std::exp(log_seconds[i - 1] + share * (log_seconds[i] - log_seconds[i - 1]));
}

struct Interconnect::Group {
  std::unique_ptr<Fabric> fabric;  // where it is told to the communicator it stays
  std::unique_ptr<nccl::Communicator> communicator;
  double sharing = 1;
  LinkKind tier = LinkKind::nvlink;
  int hosts = 1;
};

template <class T>
struct Interconnect::Made {
  std::once_flag once;
  Result<T> result = fail("not made yet");

  /// The one of `key`, made by `make` if nobody has; others may be made meanwhile.
  template <class Key, class Make>
  static const Result<T>& get(std::mutex& mutex, std::map<Key, std::unique_ptr<Made>>& all,
                              const Key& key, const Make& make) {
    Made* made = nullptr;
    {
      const std::lock_guard lock(mutex);
      auto& place = all[key];
      if (!place) place = std::make_unique<Made>();
      made = place.get();
    }
    std::call_once(made->once, [&] { made->result = make(); });
    return made->result;
  }
};

Interconnect::Interconnect(Fabric fabric, const Parts& parts, nccl::Options options)
    : fabric_(std::move(fabric)), parts_(parts), options_(std::move(options)) {
  std::map<std::uint32_t, int> islands, hosts;
  for (GpuId gpu = 0; gpu < fabric_.gpu_count(); ++gpu) {
    ++islands[fabric_.island_of(gpu)];
    ++hosts[fabric_.host_of(fabric_.gpu(gpu))];
  }
  const auto smallest = [](const std::map<std::uint32_t, int>& sizes) {
    int least = sizes.empty() ? 1 : sizes.begin()->second;
    for (const auto& [which, size] : sizes) least = std::min(least, size);
    return least;
  };
  gpus_per_host_ = smallest(hosts);
  has_nvlink_ = smallest(islands) > 1;
  domain_size_ = std::max(smallest(islands), gpus_per_host_);
}

Interconnect::~Interconnect() = default;

Result<const CostCurve*> Interconnect::curve(Collective collective, const GroupShape& shape) const {
  const Key key{collective, shape};
  const auto& made = Made<CostCurve>::get(mutex_, curves_, key, [&] { return make(key); });
  if (!made) return tl::unexpected(made.error());
  return &*made;
}

Result<CostCurve> Interconnect::make(const Key& key) const {
  const auto all = members(key.shape);
  if (key.shape.ranks() < 2 || all.back() >= fabric_.gpu_count())
    return fail(fmt::format("a group of {} ranks does not fit", key.shape.ranks()));
  GroupShape sampled = key.shape;
  while (too_large(fabric_, sampled)) {
    const auto half = halved(sampled);
    if (!half) break;
    sampled = *half;
  }
  auto curve = simulate(key.collective, sampled, kLargest);
  if (!curve || sampled == key.shape) return curve;
  const auto half = halved(sampled);
  const auto smaller = half ? simulate(key.collective, *half, kSmallest) : curve;
  if (!smaller) return smaller;

  // Latency grows with the depth of a tree, or with the length of a ring or list of peers.
  const double n = key.shape.ranks(), m = sampled.ranks();
  const double steps =
      key.collective == Collective::all_reduce ? std::log2(n / m) : 2 * (n - m) / m;
  const double longer = std::max(0.0, curve->floor - smaller->floor) * steps;
  const double factor = share_on_the_way(fabric_, key.collective, all) /
                        share_on_the_way(fabric_, key.collective, members(sampled));
  for (double& seconds : curve->log_seconds)
    seconds = std::log(std::exp(seconds) * factor + longer);
  curve->floor += longer;
  curve->hosts = static_cast<int>(hosts_of(fabric_, all).size());
  return curve;
}

const Result<Interconnect::Group>& Interconnect::group(const GroupShape& shape) const {
  return Made<Group>::get(mutex_, groups_, shape, [&]() -> Result<Group> {
    const auto ranks = members(shape);
    auto part = with_ranks(fabric_, ranks);
    if (!part) return tl::unexpected(part.error());
    Group group;
    group.fabric = std::make_unique<Fabric>(std::move(*part));
    auto communicator = nccl::Communicator::create(*group.fabric, parts_, options_);
    if (!communicator) return tl::unexpected(communicator.error());
    group.communicator = std::move(*communicator);
    group.sharing = groups_per_nic(fabric_, ranks);
    group.tier = slowest_tier(fabric_, ranks);
    group.hosts = static_cast<int>(hosts_of(fabric_, ranks).size());
    return group;
  });
}

Result<CostCurve> Interconnect::simulate(Collective collective, const GroupShape& shape,
                                         std::int64_t largest) const {
  const Result<Group>& made = group(shape);
  if (!made) return tl::unexpected(made.error());
  const Group& group = *made;
  const auto engine = make_analytic_engine();
  nccl::BenchCall call;
  call.collective = collective;
  call.type = {"bfloat16", 2};
  CostCurve curve;
  curve.tier = group.tier;
  curve.hosts = group.hosts;
  for (std::int64_t bytes = kSmallest; bytes <= largest; bytes *= kFactor) {
    const auto row = nccl::bench(*group.fabric, *group.communicator, *engine, call, bytes);
    if (!row) return tl::unexpected(row.error());
    double seconds = row->time.seconds();
    if (curve.log_bytes.empty()) curve.floor = seconds;
    seconds = curve.floor + (seconds - curve.floor) * group.sharing;
    curve.log_bytes.push_back(std::log(static_cast<double>(bytes)));
    curve.log_seconds.push_back(std::log(seconds));
    curve.bottleneck = row->bottleneck;
  }
  return curve;
}

}  // namespace isleway::plan
