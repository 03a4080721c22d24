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

}  // namespace isleway
