// The GPU that a job of equal parts waits for, and must fit into.
#pragma once

#include <vector>

#include "isleway/fabric.hpp"
#include "isleway/plan/compute.hpp"

namespace isleway::plan {

/// GPUs that differ, by rank: arithmetic over that of the slowest, bytes of memory. Both are
/// empty where all are alike.
struct GpuSpread {
  std::vector<double> speed, memory;
};

struct SlowestGpu {
  ComputeModel compute;  ///< of the one that is slowest at arithmetic
  double memory = 0;     ///< bytes of the smallest memory
  bool mixed = false;    ///< there are several kinds
  GpuSpread spread = {};
};

/// Error: no GPU, or one whose arithmetic is not known.
Result<SlowestGpu> slowest_gpu(const Fabric& fabric, const ComputeCatalogue& catalogue,
                               const Parts& parts);

/// Bytes that programs can have. A board's "GB" of memory are GiB, less what ECC and the
/// driver keep (nvidia-smi: 81,559 MiB of 80 GB, 183,359 MiB of 180 GB).
double usable_memory(const GpuPart& part);

}  // namespace isleway::plan
