// Processes that see only themselves and their descendants.
#pragma once

#include <sys/types.h>

#include <functional>

namespace isleway::vgpu {

/// Forks. Where the system allows it, the child and what it starts count their process numbers
/// from 1 on, so that what programs print of them is the same every time; the status is then that
/// of the child all the same. `child` must not return.
pid_t fork_apart(const std::function<void()>& child);

}  // namespace isleway::vgpu
