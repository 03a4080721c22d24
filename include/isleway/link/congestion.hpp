// Congestion control of RoCE: marks in switches (ECN), and senders that slow down (DCQCN).
#pragma once

#include <cstdint>

#include "isleway/core/units.hpp"

namespace isleway::link {

/// A switch marks packets by the length of the queue that they leave: none below `low`, all
/// above `high`, in between with a probability that rises to `most` (RED on the egress queue).
struct EcnRules {
  Bytes low, high;
  double most = 0;

  double probability(std::int64_t queue_bytes) const;
};

/// DCQCN's reaction point (Zhu et al., SIGCOMM 2015).
struct DcqcnRules {
  double gain = 1.0 / 256;  ///< g
  Time alpha_timer;         ///< alpha decays when so long without a notification
  Time increase_timer;      ///< between two increases
  Rate additive;            ///< R_AI, of the target rate
  Rate hyper;               ///< R_HAI, after fast recovery and additive increase
  int fast_recovery = 5;    ///< F: increases that only go half way back
  Time notification_gap;    ///< at most one CNP of a flow in that time
  Rate least;               ///< rates never fall below
};

class Dcqcn {
 public:
  Dcqcn(const DcqcnRules& rules, Rate line)
      : rules_(&rules), line_(line), current_(line), target_(line) {}

  /// A congestion notification packet arrived. Ignored within `notification_gap` of the last.
  /// True when the rate was cut.
  bool notified(Time now);
  /// The rate at `now`, with all decays and increases that are due.
  Rate rate(Time now);

 private:
  void increase();
  const DcqcnRules* rules_;
  Rate line_, current_, target_;
  double alpha_ = 1;
  bool cut_once_ = false;
  int increases_ = 0;
  Time last_cut_, next_decay_, next_increase_;
};

}  // namespace isleway::link
