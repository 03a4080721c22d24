// A pipeline's ranks, operation by operation.
#pragma once

#include "plan/pipeline.hpp"

namespace isleway::plan {

/// Seconds until the last rank is done with `micro_batches`, all of them gone through.
double run_pipeline(const Pipeline& pipeline);

}  // namespace isleway::plan
