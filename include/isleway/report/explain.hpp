// An explanation in words and as JSON.
#pragma once

#include <string>

#include "isleway/nccl.hpp"

namespace isleway::report {

/// With `everything`, also the candidates that do not exist here, all with NCCL's reason.
std::string explanation_text(const nccl::Question& question, const nccl::Explanation& explanation,
                             bool everything);
/// See docs/json.md.
std::string explanation_json(const nccl::Question& question, const nccl::Explanation& explanation);

}  // namespace isleway::report
