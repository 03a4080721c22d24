#include "fabric/leaves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace isleway {
namespace {

constexpr double rounding = 1e-9;

/// The ports that the NICs of one host take, by rail.
using HostPorts = std::vector<double>;

double sum(const HostPorts& ports) {
  double total = 0;
  for (double p : ports) total += p;
  return total;
}

class Assigner {
 public:
  Assigner(const NetworkPlan& plan, const std::vector<std::vector<NicPort>>& nics)
      : plan_(plan),
        rate_(port_rate(plan, nics)),
        room_(SwitchPorts{plan.leaf_ports}.down(plan.oversubscription)) {}

  Result<Leaves> run(const std::vector<std::vector<NicPort>>& nics,
                     const std::vector<std::uint32_t>& unit_template) {
    std::vector<std::vector<HostPorts>> hosts;  // by template
    for (const auto& unit : nics) hosts.push_back(hosts_of(unit));
    if (auto sized = choose_group_size(hosts); !sized) return tl::unexpected(sized.error());
    for (std::uint32_t t : unit_template) {
      for (const HostPorts& host : hosts[t]) {
        if (host.empty()) continue;  // a host without NICs takes part in no network
        place(host);
      }
    }
    for (const Leaf& leaf : out_.leaves)
      if (leaf.ports > room_ + rounding)
        return fail(fmt::format("network {}: a leaf would serve {:.0f} ports' worth of NICs",
                                plan_.name, leaf.ports),
                    fmt::format("at most {} of {} at an oversubscription of {}", room_,
                                plan_.leaf_ports, plan_.oversubscription),
                    "set fewer hosts_per_group or more leaf_ports");
    return std::move(out_);
  }

 private:
  bool by_rail() const { return plan_.shape == NetworkPlan::Shape::rail; }

  double ports_of(const NicPort& nic) const {
    if (nic.rate.is_zero() || rate_.is_zero()) return 1;
    return std::min(1.0, nic.rate.bytes_per_second() / rate_.bytes_per_second());
  }

  std::vector<HostPorts> hosts_of(const std::vector<NicPort>& unit) const {
    std::vector<HostPorts> hosts;
    int last = -1;
    for (const NicPort& nic : unit) {  // ordered by host
      if (nic.host != last) hosts.emplace_back();
      last = nic.host;
      hosts.back().push_back(ports_of(nic));
    }
    return hosts;
  }

  Result<void> choose_group_size(const std::vector<std::vector<HostPorts>>& templates) {
    double widest_nic = 0, widest_host = 0;
    for (const auto& hosts : templates)
      for (const HostPorts& host : hosts) {
        widest_host = std::max(widest_host, sum(host));
        for (double ports : host) widest_nic = std::max(widest_nic, ports);
      }
    if (!by_rail() && widest_host > room_ + rounding)
      return fail(
          fmt::format("network {}: a host needs {:.0f} ports of one leaf", plan_.name, widest_host),
          fmt::format("at most {} of {} at an oversubscription of {}", room_, plan_.leaf_ports,
                      plan_.oversubscription));
    const double per_host = by_rail() ? widest_nic : widest_host;
    hosts_per_group_ = plan_.hosts_per_group;
    if (hosts_per_group_ > 0 || per_host <= 0) return {};
    hosts_per_group_ = static_cast<int>(room_ / per_host + rounding);
    if (plan_.shape == NetworkPlan::Shape::dragonfly_plus)
      hosts_per_group_ *= SwitchPorts{plan_.leaf_ports}.down(plan_.upper_oversubscription);
    return {};
  }

  void place(const HostPorts& host) {
    if (hosts_in_group_ == hosts_per_group_) {
      ++group_;
      hosts_in_group_ = 0;
      of_group_.clear();
    }
    ++hosts_in_group_;
    if (by_rail()) {
      for (std::size_t rail = 0; rail < host.size(); ++rail) {
        if (of_group_.size() <= rail) open_leaf(static_cast<int>(rail));
        connect(of_group_[rail], host[rail]);
      }
      return;
    }
    // In a fat tree the hosts of a group share one leaf; only dragonfly groups have several.
    const bool may_open = plan_.shape == NetworkPlan::Shape::dragonfly_plus;
    const auto fits = [&] {
      return out_.leaves[of_group_.back()].ports + sum(host) <= room_ + rounding;
    };
    if (of_group_.empty() || (may_open && !fits())) open_leaf(static_cast<int>(of_group_.size()));
    for (double ports : host) connect(of_group_.back(), ports);
  }

  void open_leaf(int rail) {
    of_group_.push_back(static_cast<std::uint32_t>(out_.leaves.size()));
    out_.leaves.push_back({group_, rail, 0});
  }

  void connect(std::uint32_t leaf, double ports) {
    out_.leaves[leaf].ports += ports;
    out_.leaf_of_nic.push_back(leaf);
  }

  const NetworkPlan& plan_;
  const Rate rate_;
  const int room_;  ///< ports of a leaf that lead down
  int hosts_per_group_ = 0;
  int group_ = 0, hosts_in_group_ = 0;
  std::vector<std::uint32_t> of_group_;  ///< leaves of the group that is being filled
  Leaves out_;
};

}  // namespace

int SwitchPorts::down(double ratio) const {
  const int ports = static_cast<int>(all * ratio / (1 + ratio) + rounding);
  return std::clamp(ports, 1, all - 1);
}

Rate port_rate(const NetworkPlan& plan, const std::vector<std::vector<NicPort>>& nics) {
  Rate rate = plan.port_rate;
  if (!rate.is_zero()) return rate;
  for (const auto& unit : nics)
    for (const NicPort& nic : unit) rate = std::max(rate, nic.rate);
  return rate;
}

Result<Leaves> assign_leaves(const NetworkPlan& plan, const std::vector<std::vector<NicPort>>& nics,
                             const std::vector<std::uint32_t>& unit_template) {
  return Assigner(plan, nics).run(nics, unit_template);
}

}  // namespace isleway
