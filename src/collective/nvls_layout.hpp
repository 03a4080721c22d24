// Who is who in an NVLS call: islands, their heads, the switches that act for each head and,
// where the network reduces too, its switches.
#pragma once

#include "collective/tree_links.hpp"

namespace isleway {

/// What the streams of a channel do, at ranks and at agents. At an agent, `up` reduces what
/// the switch pulls from all ranks, and `down` multicasts.
enum class NvlsRole : std::int32_t {
  scatter,    ///< a rank copies its input into multicast memory
  up,         ///< a rank's multicast memory is read
  head_up,    ///< a head gets the sum and passes it on, up the tree or to its agent
  head_down,  ///< a head passes on what comes down the tree
  down,       ///< a rank's multicast memory is written
  gather      ///< a rank copies the result out
};
inline constexpr int kNvlsRoles = 6;

class NvlsLayout {
 public:
  /// `network`: heads of equal index meet in a switch of the network, which is the head of that
  /// index in one more island, without members and NVSwitches.
  /// Error: islands that do not hold every rank once, or with fewer ranks than heads.
  static Result<NvlsLayout> create(std::vector<std::vector<int>> islands, int ranks, int heads,
                                   bool network = false);

  int ranks() const { return static_cast<int>(island_of_.size()); }
  int islands() const { return static_cast<int>(islands_.size()); }
  int heads() const { return heads_; }
  int agents() const { return ranks() + (islands() + (network_ ? 1 : 0)) * heads_; }

  const std::vector<int>& members(int island) const { return islands_[island]; }
  /// Of a rank or of a switch of the network.
  int island_of(int who) const { return is_network(who) ? islands() : island_of_[who]; }
  int head(int island, int index) const {
    return island == islands() ? agent(island, index) : islands_[island][index];
  }
  /// Which head of its island a rank or a switch of the network is; -1 for none.
  int head_index(int who) const { return is_network(who) ? head_of_agent(who) : head_index_[who]; }

  int agent(int island, int head) const { return ranks() + island * heads_ + head; }
  bool is_network(int who) const { return who >= agent(islands(), 0); }
  /// An NVSwitch.
  bool is_agent(int who) const { return who >= ranks() && !is_network(who); }
  int island_of_agent(int agent) const { return (agent - ranks()) / heads_; }
  int head_of_agent(int agent) const { return (agent - ranks()) % heads_; }

  static Port port(int agent, int channel, NvlsRole role) {
    return {agent, channel * kNvlsRoles + static_cast<std::int32_t>(role)};
  }
  static int channel_of(Port port) { return port.stream / kNvlsRoles; }
  static NvlsRole role_of(Port port) { return static_cast<NvlsRole>(port.stream % kNvlsRoles); }

 private:
  int heads_ = 0;
  bool network_ = false;
  std::vector<std::vector<int>> islands_;
  std::vector<int> island_of_, head_index_;
};

}  // namespace isleway
