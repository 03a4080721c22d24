// How many NVLinks stand behind a bandwidth that NCCL prints.
#pragma once

#include <optional>
#include <vector>

namespace isleway::formats {

struct NvlinkReading {
  int sm = 0;           ///< compute capability x 10 that fits
  double per_link = 0;  ///< GB/s that NCCL counted for one link
  int count(double rate) const;
};

/// `rates[g]` are the bandwidths that NCCL printed for GPU g, one an NVLink bundle. A reading
/// in which some GPU uses all links that its generation has is preferred. `sm` is what is
/// known already, or 0. Nothing when no generation explains all of them.
std::optional<NvlinkReading> read_nvlink_rates(const std::vector<std::vector<double>>& rates,
                                               int sm);

}  // namespace isleway::formats
