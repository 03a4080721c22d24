// What a user set for NCCL.
#pragma once

#include <map>
#include <string>

namespace isleway::nccl {

/// The NCCL_* variables of this process.
std::map<std::string, std::string> environment();

}  // namespace isleway::nccl
