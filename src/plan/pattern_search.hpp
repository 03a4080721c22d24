// Constants that make an error small, found without derivatives.
#pragma once

#include <algorithm>
#include <functional>
#include <span>

namespace isleway::plan {

/// A constant that the search moves: first by `step` to either side, then by ever less.
template <class Constants>
struct Knob {
  double Constants::*member;
  double step, least, most;
};

/// Coordinate by coordinate; steps are halved when none of them helps. Deterministic.
template <class Constants>
Constants pattern_search(std::span<const Knob<Constants>> knobs, Constants constants, int rounds,
                         const std::function<double(const Constants&)>& loss) {
  double best = loss(constants), scale = 1;
  for (int round = 0; round < rounds; ++round) {
    bool improved = false;
    for (const Knob<Constants>& knob : knobs)
      for (const double direction : {1.0, -1.0}) {
        Constants tried = constants;
        double& value = tried.*knob.member;
        const double moved =
            std::clamp(value + direction * scale * knob.step, knob.least, knob.most);
        if (moved == value) continue;
        value = moved;
        const double now = loss(tried);
        if (now >= best) continue;
        best = now;
        constants = tried;
        improved = true;
        break;
      }
    if (!improved) scale /= 2;
  }
  return constants;
}

}  // namespace isleway::plan
