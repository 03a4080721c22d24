// What joins units: NICs' cables, leaf switches and the tiers above.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "isleway/core/error.hpp"
#include "isleway/fabric/device.hpp"
#include "isleway/fabric/path.hpp"

namespace isleway {

/// A network switch, or a group of equal ones over which traffic is sprayed. A group of
/// `members` spines is one vertex whose cables are bundles: losing a member makes each
/// bundle one cable thinner, which is what adaptive routing makes of it.
struct NetSwitch {
  std::string name;  ///< "leaf0.3", "spine0"
  int tier = 0;      ///< 0 = leaf
  int members = 1, members_max = 1;
};

/// Which leaf a NIC's cable goes to.
struct NicAttachment {
  std::uint32_t leaf = 0;
  Link cable;  ///< a = NIC, b = leaf; device indices are not used
};

/// The description by rule that clusters are built from, e.g. by name: "ndr400-rail".
struct NetworkPlan {
  enum class Shape {
    ideal,           ///< one switch that never blocks
    rail,            ///< NIC i of every host of a group on one leaf; a spine over all leaves,
                     ///< and where these are too many one for each rail's pods and a core
    fat_tree_2,      ///< all NICs of a host on one leaf; a spine over all leaves
    fat_tree_3,      ///< the same, a spine for each pod of leaves and a core over the pods
    dragonfly_plus,  ///< groups of leaves and spines, cables between every two groups
  };
  std::string name = "ideal";
  Shape shape = Shape::ideal;
  Rate port_rate;                         ///< per cable; zero: as the NICs
  std::string technology = "infiniband";  ///< or "ethernet", "slingshot", "efa"
  int leaf_ports = 64;                    ///< ports of a leaf switch, both ways together
  int hosts_per_group = 0;            ///< hosts that share leaves (a scalable unit; one leaf in a
                                      ///< fat tree); 0: as many as fit
  double oversubscription = 1;        ///< downlink over uplink rate at the leaf
  double upper_oversubscription = 1;  ///< the same one tier up
  int groups_joined = 0;              ///< dragonfly+: global cables per pair of groups; 0: as many
                                      ///< as there are ports for
  Time switch_latency, cable_latency;
  double efficiency = 1;  ///< payload share of the line rate
  std::string source;
};

/// One NIC of a unit, as a network sees it.
struct NicPort {
  Rate rate;
  int host = 0;  ///< within the unit
  int rail = 0;  ///< among the NICs of its host
};

/// Tiers of switches above the NICs. Built from a plan and the number of units; immutable.
class Network {
 public:
  Network() = default;

  /// `nics` are those of one unit in order, one vector per unit template; `unit_template`
  /// says which template each unit has. Error: the plan cannot hold them.
  static Result<Network> build(const NetworkPlan& plan,
                               const std::vector<std::vector<NicPort>>& nics,
                               const std::vector<std::uint32_t>& unit_template);

  const NetworkPlan& plan() const { return plan_; }
  const std::vector<NetSwitch>& switches() const { return switches_; }
  /// Between switches; a and b of each are in `ends`.
  const std::vector<Link>& trunks() const { return trunks_; }
  struct Ends {
    std::uint32_t a, b;
  };
  const std::vector<Ends>& trunk_ends() const { return ends_; }
  /// By NIC, in fabric order (unit, then NIC of the unit).
  const std::vector<NicAttachment>& attachments() const { return attachments_; }

  /// Appends the trunks between two leaves: up to where their ways meet and down, as
  /// (index in trunks(), forward, share). Nothing when both are the same leaf. False when
  /// no working way joins them.
  bool route(std::uint32_t leaf_from, std::uint32_t leaf_to, std::vector<Hop>& out) const;

  /// A copy in which `edit` has changed the trunks, cables or switches.
  template <class Edit>
  Network changed(Edit edit) const {
    Network copy = *this;
    edit(copy.switches_, copy.trunks_, copy.attachments_);
    return copy;
  }

 private:
  NetworkPlan plan_;
  std::vector<NetSwitch> switches_;
  std::vector<Link> trunks_;
  std::vector<Ends> ends_;
  std::vector<NicAttachment> attachments_;
  /// For each switch, the trunk that leads up from it; none at the top.
  std::vector<std::uint32_t> up_;
  /// Dragonfly+: (switch, switch, trunk) for both directions of each global bundle, sorted.
  std::vector<std::array<std::uint32_t, 3>> across_;
};

}  // namespace isleway
