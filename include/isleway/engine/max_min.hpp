// Max-min fair sharing of capacities among flows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace isleway {

/// Which resource a flow uses, and how many units of it per unit of the flow's rate (a
/// flow sprayed over four planes uses a quarter of each).
struct Usage {
  std::uint32_t resource = 0;
  double weight = 1;
};

struct FlowDemand {
  std::span<const Usage> uses;
  double cap = 0;  ///< the flow's own limit; infinity for none
};

/// Progressive filling: every flow's rate rises until a resource it uses is full or its own
/// cap is reached. Exact up to rounding; O(flows x uses) per filling level. Flows without
/// uses and cap get infinity. Reference for the incremental solver and used where a
/// single solution is wanted.
std::vector<double> max_min_rates(std::span<const double> capacity,
                                  std::span<const FlowDemand> flows);

/// Max-min fair rates that follow a changing set of flows.
///
/// Flows that use the same resources in the same way and have the same cap get the same
/// rate, so they are one class with a count. A class that is known once comes and goes
/// without allocation. After a change, only the classes that can feel it are solved again:
/// those joined to it by resources that could fill up. A resource that would not be full
/// with every flow at its own cap joins nothing.
class MaxMinSolver {
 public:
  /// Numbers resources from 0. A resource of no capacity stops all flows over it.
  std::uint32_t add_resource(double capacity);
  /// Numbers classes from 0; starts without flows. Uses with a weight of 0 are left out.
  std::uint32_t add_class(std::span<const Usage> uses, double cap);

  void set_count(std::uint32_t flow_class, std::uint32_t count);
  std::uint32_t count(std::uint32_t flow_class) const { return count_[flow_class]; }

  /// Brings the rates up to date. The classes whose rate changed, in no special but in a
  /// reproducible order; valid until the next call.
  std::span<const std::uint32_t> solve();

  /// Of one flow of the class, as of the last solve(); 0 when it had none.
  double rate(std::uint32_t flow_class) const { return rate_[flow_class]; }
  /// The class runs at its own cap: no resource holds it back.
  bool capped(std::uint32_t flow_class) const { return rate_[flow_class] >= cap_[flow_class]; }

 private:
  struct Use {
    std::uint32_t resource;
    std::uint32_t position;  ///< of the class in the resource's list while it has flows
    double weight;
  };
  struct Member {
    std::uint32_t flow_class;
    std::uint32_t use;  ///< index in uses_
  };

  bool can_fill_up(std::uint32_t resource) const;
  void touch(std::uint32_t resource);
  void join(std::uint32_t flow_class);
  void leave(std::uint32_t flow_class);
  void collect_component();
  void collect_class(std::uint32_t flow_class);
  void collect_resource(std::uint32_t resource);
  void fill();
  void freeze(std::uint32_t flow_class, double rate);

  // By class.
  std::vector<std::uint32_t> first_use_{0};  ///< one more entry than classes
  std::vector<std::uint32_t> count_;
  std::vector<double> cap_, rate_;
  std::vector<std::uint8_t> class_state_;
  std::vector<Use> uses_;

  // By resource.
  std::vector<double> capacity_;
  std::vector<double> demand_;                ///< of all flows at their caps, if those are finite
  std::vector<std::uint32_t> uncapped_;       ///< classes with flows and without a cap
  std::vector<std::vector<Member>> members_;  ///< classes that have flows now
  std::vector<std::uint8_t> resource_state_;
  std::vector<double> frozen_load_, open_weight_;  ///< while filling
  std::vector<std::uint32_t> open_classes_;

  // What changed since the last solve, and the component being solved.
  std::vector<std::uint32_t> changed_classes_, touched_resources_;
  std::vector<std::uint32_t> classes_, resources_, changed_rates_;
};

}  // namespace isleway
