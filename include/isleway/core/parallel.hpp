// Independent pieces of work on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace isleway {

/// Calls `work` with 0 to count-1, each once, on up to `threads` threads (0: one a core), and
/// returns when all are done. What `work` writes for different indices must not overlap; then
/// the result does not depend on the number of threads. `work` must not throw.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work,
                  unsigned threads = 0);

}  // namespace isleway
