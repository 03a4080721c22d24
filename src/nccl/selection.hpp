// NCCL_ALGO and NCCL_PROTO: lists with exceptions, for all functions or for one each.
#pragma once

#include "nccl/settings.hpp"

namespace isleway::nccl {

/// "ring,tree", "^nvls", and from 2.24 "ring;allreduce:tree,nvls;broadcast:ring".
Result<Allowed<kAlgorithmCount>> parse_algorithms(std::string_view text, Version version);
Result<Allowed<kProtocolCount>> parse_protocols(std::string_view text, Version version);

template <std::size_t N>
Allowed<N> all_allowed() {
  Allowed<N> allowed;
  for (auto& row : allowed.mask) row.fill(true);
  return allowed;
}

}  // namespace isleway::nccl
