#include "fabric/network_build.hpp"

#include <algorithm>

namespace isleway {
namespace {

class Builder {
 public:
  explicit Builder(const NetworkPlan& plan) : plan_(plan) {}

  /// The cable of a NIC. A switch's latency is spread over the links on both its sides, so
  /// that n switches in a row add n times the latency of one.
  Link cable(const NicPort& nic) const {
    Link link = wire();
    link.link_rate = plan_.port_rate.is_zero() ? nic.rate : std::min(nic.rate, plan_.port_rate);
    link.latency = plan_.cable_latency + plan_.switch_latency.scaled(0.5);
    return link;
  }

  void ideal(const std::vector<std::vector<NicPort>>& nics,
             const std::vector<std::uint32_t>& unit_template) {
    tiers_.switches.push_back({"network", 0, 1, 1});
    for (std::uint32_t t : unit_template)
      for (const NicPort& nic : nics[t]) tiers_.attachments.push_back({0, cable(nic)});
  }

  Tiers take() { return std::move(tiers_); }

 private:
  Link wire() const {
    Link link;
    link.kind = LinkKind::network;
    link.efficiency.sm = link.efficiency.copy_engine = plan_.efficiency;
    return link;
  }

  const NetworkPlan& plan_;
  Tiers tiers_;
};

}  // namespace

Result<Tiers> build_tiers(const NetworkPlan& plan, const std::vector<std::vector<NicPort>>& nics,
                          const std::vector<std::uint32_t>& unit_template) {
  Builder builder(plan);
  builder.ideal(nics, unit_template);
  return builder.take();
}

}  // namespace isleway
