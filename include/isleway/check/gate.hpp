// Targets that a rollout has to meet: latency, bandwidth, cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isleway/core/error.hpp"

namespace isleway::check {

struct Target {
  std::string name;
  std::string measurement;                  ///< name of a signal (docs/signals.md)
  std::string subject;                      ///< of which; empty: every one
  std::int64_t bytes = -1;                  ///< of collectives: this size; -1: any
  std::optional<double> at_least, at_most;  ///< of every value, or of the cost
  /// Cost: the price of the machine for an hour, over what the measurement (GB/s) moves of
  /// `per_GB` in that time.
  double usd_per_hour = 0, per_GB = 0;
};

struct Gate {
  std::string rollout, roll_back;
  std::vector<Target> targets;
  static Result<Gate> from_yaml(const std::string& text, const std::string& file);
};

}  // namespace isleway::check
