// How an NVLink comes up: its states, and the width that it ends with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isleway/fabric/device.hpp"

namespace isleway::link {

/// States of NVIDIA's open kernel driver, with its numbers
/// (github.com/NVIDIA/open-gpu-kernel-modules, nvlink.h).
enum class LinkState : std::uint8_t {
  off = 0,
  active = 1,  ///< "HS", high speed
  safe = 2,
  fault = 3,
  recovery = 4,
  fail = 5,
  reset = 7,
  enable_pm = 8,
  traffic_setup = 18,
  initphase1 = 19,
  initnegotiate = 20,
  post_initnegotiate = 21,
  initoptimize = 22,
  post_initoptimize = 23,
  inittl = 26,
};
const char* name_of(LinkState state);

/// What counters and tools report instead: INIT 0, SWCFG 2, ACTIVE 3, FAULT 4, RECOVERY 6.
int reported_state(LinkState state);

struct Lane {
  bool detected = true;  ///< the other end answers
  double ber = 0;        ///< after equalisation, before any correction
};

struct TrainingRules {
  /// A lane that is worse cannot be used.
  double worst_lane_ber = 1e-4;
  /// How long a state may last before the link gives up, as in the driver's table.
  Time off, safe, high_speed, post_high_speed;
};

enum class Width : std::uint8_t { full, reduced, failed };

/// The state machine. Starts off; each train() goes through all states from there. What a state
/// takes is not published, so that only what times out has a duration here.
class Training {
 public:
  struct Step {
    Time at;
    LinkState state;
  };

  Training(int generation, TrainingRules rules) : generation_(generation), rules_(rules) {}

  /// Uses all lanes if all are good, else the largest aligned group of a power of two of good
  /// ones. With none the link ends in fault.
  Width train(std::span<const Lane> lanes);
  /// From active: the lanes are judged anew, without losing what the replay buffer holds.
  /// Returns to active, perhaps narrower, or fails. Counted.
  Width recover(std::span<const Lane> lanes);

  LinkState state() const { return state_; }
  int lanes_used() const { return used_; }
  std::uint64_t recoveries() const { return recoveries_; }
  const std::vector<Step>& history() const { return history_; }

 private:
  void enter(LinkState state);
  Width settle(std::span<const Lane> lanes);

  int generation_;
  TrainingRules rules_;
  LinkState state_ = LinkState::off;
  int used_ = 0;
  Time now_;
  std::uint64_t recoveries_ = 0;
  std::vector<Step> history_{{Time(), LinkState::off}};
};

/// The link with as many lanes as training found good; down where it failed.
Link trained(Link link, const Training& training);

}  // namespace isleway::link
