// What others in the field demand of a machine before they use it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isleway/core/error.hpp"

namespace isleway::check {

struct Threshold {
  std::string id, measurement, subject, source;
  std::vector<std::string> products;
  std::int64_t from_bytes = 0;  ///< rows of fewer bytes do not count
  int gpus = 0;                 ///< 0: any number
  double least = 0;             ///< in the measurement's unit
};

struct Thresholds {
  std::vector<Threshold> all;
  static Result<Thresholds> from_yaml(const std::string& text, const std::string& file);
};

}  // namespace isleway::check
