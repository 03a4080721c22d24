// What every maker of schedules checks before it builds one.
#pragma once

#include <initializer_list>

#include "isleway/collective/collective.hpp"

namespace isleway {

/// Ok when `algorithm` (for messages) does the call's collective, its sizes and root make
/// sense, and the chunking can be used.
Result<void> check_arguments(const CollectiveCall& call, int channels, const Chunking& chunking,
                             const char* algorithm, std::initializer_list<Collective> collectives);

/// Ok when `ranks` holds every number from 0 to count - 1 once; `what` names it in messages.
Result<void> check_every_rank_once(const std::vector<int>& ranks, int count,
                                   const std::string& what);

}  // namespace isleway
