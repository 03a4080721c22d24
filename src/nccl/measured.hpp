// For which machines and sizes there are measured tables to hold times against.
#pragma once

#include "isleway/nccl/communicator.hpp"

namespace isleway::nccl {

/// How ranks are joined, as far as measurements tell machines apart.
enum class Setting : std::uint8_t { one_node, several_nodes, rack, several_racks };

/// Of the GPUs of a compute capability (80: A100). Nothing: no table that the timing model was
/// held against is of such machines. What measurements/collectives holds; a test keeps it so.
std::optional<MeasuredRange> measured_range(int sm, Setting setting);

}  // namespace isleway::nccl
