// Runs a schedule on numbers and proves that every rank ends with the right data.
#pragma once

#include <cstdint>

#include "isleway/collective/collective.hpp"

namespace isleway {

/// Executes every action of `schedule` with real buffers and FIFOs of `credits` messages.
/// Each element of each rank starts as its own random 64-bit word and reductions add modulo
/// 2^64, so that a missing, doubled or misplaced contribution shows. Returns an error that
/// names the first wrong element, or the ports that wait for one another for ever. `order`
/// seeds which of the streams that can go on goes first.
///
/// Memory: ranks x buffer size / element_bytes x 8; meant for small calls.
Result<void> check_schedule(const CollectiveCall& call, const Schedule& schedule,
                            bool in_place = false, int credits = 8, std::uint64_t order = 0);

}  // namespace isleway
