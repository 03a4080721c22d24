#include "virtual/device/copies.hpp"

#include <algorithm>
#include <limits>

#include "collective/copy_ways.hpp"
#include "collective/copy_wiring.hpp"
#include "isleway/engine.hpp"

namespace isleway::vgpu {
namespace {

std::int64_t number(std::optional<GpuId> gpu) { return gpu ? std::int64_t{*gpu} : -1; }

tl::unexpected<Error> no_way(std::optional<GpuId> from, std::optional<GpuId> to) {
  const auto name = [&](std::optional<GpuId> gpu) {
    return gpu ? "GPU " + std::to_string(*gpu) : std::string("host memory");
  };
  return fail("no way is left from " + name(from) + " to " + name(to));
}

}  // namespace

Result<const CopyMatrices*> Copies::matrices() {
  if (!matrices_) {
    auto made = copy_matrices(*fabric_, parts_);
    if (!made) return tl::unexpected(made.error());
    matrices_ = std::move(*made);
  }
  return &*matrices_;
}

Result<Copies::Priced> Copies::price(std::optional<GpuId> from, std::optional<GpuId> to,
                                     bool peers) {
  Priced priced;
  if (from && !(from = present_->gpu(*from))) return no_way(from, to);
  if (to && !(to = present_->gpu(*to))) return no_way(from, to);
  const auto prices = CopyPrices::from(parts_);
  if (!prices) return tl::unexpected(prices.error());
  if (from && to) {
    const auto all = matrices();
    if (!all) return tl::unexpected(all.error());
    const CopyMatrices& m = **all;
    const GpuId a = *from, b = *to;
    if (a == b) {
      // The test counts reading and writing, a copy counts its bytes once.
      priced.alone_GBs = priced.against_GBs = m.unidirectional_GBs[a][a] / 2;
      priced.latency = prices->launch;
      return priced;
    }
    peers = peers && m.peer_access[a][b];
    priced.alone_GBs = (peers ? m.unidirectional_GBs : m.unidirectional_no_p2p_GBs)[a][b];
    priced.against_GBs = (peers ? m.bidirectional_GBs : m.bidirectional_no_p2p_GBs)[a][b] / 2;
    priced.latency = Time::us((peers ? m.latency_us : m.latency_no_p2p_us)[a][b]);
    const DeviceRef source = fabric_->gpu(a), target = fabric_->gpu(b);
    if (peers) {
      priced.route = peer_way(*fabric_, source, target);
    } else {
      const auto up = host_way(*fabric_, source), down = host_way(*fabric_, target);
      if (up && down)
        if (auto staged = staged_way(*fabric_, source, target, *up, *down))
          priced.route = std::move(staged->route);
    }
    return priced;
  }
  if (!from && !to) return priced;  // host to host, by the CPU
  const GpuId gpu = from ? *from : *to;
  if (!host_) {
    auto made = host_copies(*fabric_, parts_);
    if (!made) return tl::unexpected(made.error());
    host_ = std::move(*made);
  }
  const auto way = host_way(*fabric_, fabric_->gpu(gpu));
  if (!way) return priced;
  priced.route = from ? way->up : way->down;
  priced.alone_GBs = priced.against_GBs =
      (from ? host_->device_to_host_GBs : host_->host_to_device_GBs)[gpu];
  priced.latency = prices->launch + priced.route.latency;
  return priced;
}

std::uint32_t Copies::resource(LinkId link, bool forward) {
  const auto [found, is_new] = resources_.try_emplace({link, forward}, 0);
  if (is_new)
    found->second = timeline_.add_resource(
        payload_rate(fabric_->link(link), Mover::copy_engine).bytes_per_second());
  return found->second;
}

std::uint32_t Copies::memory_resource(GpuId gpu, double rate) {
  const auto [found, is_new] = memories_.try_emplace(gpu, 0);
  if (is_new) found->second = timeline_.add_resource(rate);
  return found->second;
}

Result<std::uint32_t> Copies::path(const Key& key, const Priced& priced) {
  std::vector<Usage> uses;
  if (std::get<0>(key) == std::get<1>(key) && std::get<0>(key) >= 0)
    uses.push_back(
        {memory_resource(static_cast<GpuId>(std::get<0>(key)), priced.alone_GBs * 1e9), 1});
  for (const Hop& hop : priced.route.hops)
    uses.push_back({resource(hop.link, hop.forward), hop.share});
  const std::uint32_t alone = timeline_.add_path(uses, priced.alone_GBs * 1e9);
  timeline_.add_path(uses, priced.against_GBs * 1e9);
  return alone;
}

Result<Flow> Copies::flow(std::optional<GpuId> from, std::optional<GpuId> to, bool peers,
                          std::uint64_t bytes) {
  const auto known =
      [&](std::optional<GpuId> a,
          std::optional<GpuId> b) -> Result<std::pair<std::uint32_t, const Priced*>> {
    const Key key{number(a), number(b), peers};
    auto found = known_.find(key);
    if (found == known_.end()) {
      const auto priced = price(a, b, peers);
      if (!priced) return tl::unexpected(priced.error());
      if (!(priced->alone_GBs > 0)) return no_way(a, b);
      const auto made = path(key, *priced);
      if (!made) return tl::unexpected(made.error());
      found = known_.emplace(key, std::pair{*made, *priced}).first;
    }
    return std::pair{found->second.first, &found->second.second};
  };
  const auto there = known(from, to);
  if (!there) return tl::unexpected(there.error());
  Flow flow;
  flow.path = there->first;
  flow.bytes = static_cast<double>(bytes);
  flow.latency = there->second->latency;
  if (from && to && *from != *to)
    if (const auto back = known(to, from)) flow.opposite = back->first;
  return flow;
}

Result<Flow> Copies::multicast(GpuId from, const std::vector<GpuId>& to, std::uint64_t bytes) {
  auto known = multicasts_.find({from, to});
  if (known == multicasts_.end()) {
    std::map<std::pair<LinkId, bool>, decltype(Usage::weight)> shares;
    double limit_GBs = std::numeric_limits<double>::infinity();
    Time latency;
    for (const GpuId gpu : to) {
      if (gpu == from) continue;
      const auto priced = price(from, gpu, true);
      if (!priced) return tl::unexpected(priced.error());
      if (!(priced->alone_GBs > 0)) return no_way(from, gpu);
      // What leads to several of them is crossed once.
      for (const Hop& hop : priced->route.hops) {
        auto& share = shares[{hop.link, hop.forward}];
        share = std::max(share, static_cast<decltype(Usage::weight)>(hop.share));
      }
      limit_GBs = std::min(limit_GBs, priced->alone_GBs);
      latency = std::max(latency, priced->latency);
    }
    if (shares.empty()) return flow(from, from, true, bytes);
    std::vector<Usage> uses;
    for (const auto& [link, share] : shares)
      uses.push_back({resource(link.first, link.second), share});
    const std::uint32_t path = timeline_.add_path(uses, limit_GBs * 1e9);
    timeline_.add_path(uses, limit_GBs * 1e9);
    known = multicasts_.emplace(std::pair{from, to}, std::pair{path, latency}).first;
  }
  Flow flow;
  flow.path = known->second.first;
  flow.bytes = static_cast<double>(bytes);
  flow.latency = known->second.second;
  return flow;
}

std::optional<Time> Copies::latency(GpuId from, std::optional<GpuId> to) const {
  const auto a = present_->gpu(from);
  const auto b = to ? present_->gpu(*to) : std::nullopt;
  if (!a || (to && !b)) return std::nullopt;
  if (!to) {
    const auto way = host_way(*fabric_, fabric_->gpu(*a));
    return way ? std::optional(way->up.latency) : std::nullopt;
  }
  const Route way = route(*fabric_, fabric_->gpu(*a), fabric_->gpu(*b));
  return way.exists() ? std::optional(way.latency) : std::nullopt;
}

void Copies::count(std::optional<GpuId> from, std::optional<GpuId> to, bool peers,
                   std::uint64_t bytes,
                   const std::function<void(LinkId, bool, std::uint64_t)>& counter) const {
  const auto found = known_.find({number(from), number(to), peers});
  if (found == known_.end()) return;
  for (const Hop& hop : found->second.second.route.hops)
    if (const auto link = present_->link_of_machine(hop.link))
      counter(
          *link, hop.forward,
          static_cast<std::uint64_t>(static_cast<double>(bytes) * static_cast<double>(hop.share)));
}

}  // namespace isleway::vgpu
