// Max-min fair sharing of capacities among flows.
#pragma once

#include <cstdint>
#include <limits>
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

/// The weight as MaxMinSolver has it: a whole number of 2^-32.
double quantised_weight(double weight);

/// A number for each of many, which takes no memory as long as all are the usual one.
class MostlyUsual {
 public:
  explicit MostlyUsual(double usual) : usual_(usual) {}
  double operator[](std::size_t i) const { return values_.empty() ? usual_ : values_[i]; }
  void push_back(double value) {
    if (!values_.empty() || value != usual_) {
      values_.resize(size_, usual_);
      values_.push_back(value);
    }
    ++size_;
  }

 private:
  double usual_;
  std::size_t size_ = 0;
  std::vector<double> values_;
};

/// Max-min fair rates that follow a changing set of flows.
///
/// Flows that use the same resources in the same way and have the same cap get the same
/// rate, so they are one class with a count. A class that is known once comes and goes
/// without allocation.
///
/// After a change only the classes that it reaches are solved again: those held back by a
/// resource that changed, those held back by another resource of these, and so on. The others
/// stay at their rates. Where the result would not let one of them have its rate, it is solved
/// again as well. A resource that would not be full with every flow at its own cap holds back
/// nobody. A class whose flows ended keeps its place where no other class wants it: pipelines
/// send again and again over the same links.
///
/// Rates are the same to the last bit in whatever order classes and resources were added and
/// flows came: weights are whole numbers of 2^-32, so that their sums are exact (up to a weight
/// of 2^21 on a resource), and all that a level of the filling takes from a resource is taken
/// at once.
class MaxMinSolver {
 public:
  /// Numbers resources from 0. A resource of no capacity stops all flows over it.
  std::uint32_t add_resource(double capacity);
  /// Numbers classes from 0; starts without flows. Uses with a weight of 0 are left out.
  std::uint32_t add_class(std::span<const Usage> uses, double cap);
  /// Makes room, where the numbers are known.
  void reserve(std::size_t classes, std::size_t uses);

  void set_capacity(std::uint32_t resource, double capacity);
  void set_count(std::uint32_t flow_class, std::uint32_t count) {
    count_[flow_class] = count;
    if (class_state_[flow_class] & kChanged) return;
    class_state_[flow_class] |= kChanged;
    changed_classes_.push_back(flow_class);
  }
  std::uint32_t count(std::uint32_t flow_class) const { return count_[flow_class]; }

  /// Brings the rates up to date. The classes whose rate is another than when they last had
  /// flows, in no special but in a reproducible order; valid until the next call.
  std::span<const std::uint32_t> solve();

  /// Of one flow of the class, as of the last solve(); without meaning when it had none.
  double rate(std::uint32_t flow_class) const { return rate_[flow_class]; }
  /// The class runs at its own cap: no resource holds it back.
  bool capped(std::uint32_t flow_class) const { return rate_[flow_class] >= cap_[flow_class]; }

 private:
  // Bits of class_state_ and resource_state_.
  static constexpr std::uint8_t kChanged = 1;    // since the last solve
  static constexpr std::uint8_t kCollected = 2;  // among those that are solved again
  static constexpr std::uint8_t kOpen = 4;       // its rate still rises
  static constexpr std::uint8_t kCouldFill = 8;  // before the change
  static constexpr std::uint8_t kAlone = 16;     // shares no resource that could fill up
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  struct Use {
    std::uint32_t resource;
    std::uint32_t position;  ///< of the class in the resource's list while it has flows
  };
  struct Member {
    std::uint32_t flow_class;
    std::uint32_t use;  ///< index in uses_
  };
  struct Resource {
    double capacity = 0;
    double demand = 0;           ///< of all flows at their caps, if those are finite
    std::uint32_t uncapped = 0;  ///< classes with flows and without a cap
    // While filling:
    std::uint32_t open_classes = 0;
    double left = 0, open_weight = 0;
    double frozen_weight = 0;  ///< by the present level
  };
  /// At which level something ends the rise: a resource is full, or a class at its cap.
  struct Stop {
    double level;
    std::uint32_t id;
    bool is_cap;
  };

  std::span<Use> uses(std::uint32_t flow_class) {
    return std::span(uses_).subspan(first_use_[flow_class],
                                    first_use_[flow_class + 1] - first_use_[flow_class]);
  }
  bool can_fill_up(std::uint32_t resource) const;
  void touch(std::uint32_t resource);
  void apply_changes();
  void apply_change(std::uint32_t flow_class);
  bool is_alone(std::uint32_t flow_class);
  void make_way(std::uint32_t resource);
  void set_rate(std::uint32_t flow_class, double rate, std::uint32_t held_by);
  bool solve_alone(std::uint32_t flow_class);
  void collect_changed();
  void collect_reached();
  void collect_class(std::uint32_t flow_class);
  void collect_resource(std::uint32_t resource);
  void open(std::uint32_t flow_class);
  void open_all();
  void fill();
  void take_stops(double level);
  void freeze(std::uint32_t flow_class, double rate, std::uint32_t held_by);
  void finish();

  // By class.
  std::vector<std::uint32_t> first_use_{0};  ///< one more entry than classes
  std::vector<std::uint32_t> count_, solved_count_;
  MostlyUsual cap_{std::numeric_limits<double>::infinity()};
  std::vector<double> rate_;
  /// The resource that holds it back; kNobody: its own cap.
  std::vector<std::uint32_t> held_by_;
  std::vector<std::uint8_t> class_state_;
  std::vector<Use> uses_;
  MostlyUsual weight_{1};  ///< by use

  // By resource.
  std::vector<Resource> resources_;
  std::vector<std::vector<Member>> members_;  ///< classes that have flows now
  std::vector<std::uint8_t> resource_state_;

  // What changed since the last solve, and what is solved again.
  std::vector<std::uint32_t> changed_classes_, touched_;
  std::vector<std::uint32_t> component_, component_resources_, changed_rates_;
  std::size_t reached_ = 0, reached_resources_ = 0;   ///< of these, how many were looked at
  std::vector<std::uint32_t> wronged_;                ///< others that cannot have their rate
  std::vector<Stop> stops_;                           ///< a heap, the lowest level on top
  std::vector<std::uint32_t> full_, at_cap_, eased_;  ///< by the present level
};

}  // namespace isleway
