// All layouts that a job can have, and the best of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "isleway/plan/train.hpp"

namespace isleway::plan {

struct SearchOptions {
  std::size_t top = 10;
  bool all_schedules = false;  ///< zero-bubble and DualPipe too, which few frameworks have
  bool all_orders = true;      ///< tries other placements of the best layouts' ranks
  /// Sizes that are wanted; 0: any.
  int tensor = 0, context = 0, expert = 0, pipeline = 0, micro_batch = 0;
  unsigned threads = 0;
};

/// Layouts that were left out for one reason, with the first of them.
struct Rejection {
  std::string reason;
  std::size_t count = 0;
  TrainLayout example;
};

struct SearchResult {
  /// The fastest that fit, one for each way to divide the model (the best of its schedules,
  /// recomputation, micro-batches), exactly priced.
  std::vector<TrainEstimate> best;
  std::size_t considered = 0, priced = 0, fitting = 0;
  std::vector<Rejection> rejected;       ///< most frequent first
  std::optional<TrainEstimate> nearest;  ///< where nothing fits: what needs least memory
};

/// Error: no layout can be priced at all, with the most frequent reason.
Result<SearchResult> search_layouts(const TrainModel& model, const SearchOptions& options);

/// The fewest GPUs, a power of two, on which some layout of the job fits into `capacity` bytes
/// each with tensor-parallel groups inside domains of `domain` GPUs; nothing up to `most`.
struct SmallestFit {
  int gpus = 0;
  TrainLayout layout;
  double needed = 0;
};
std::optional<SmallestFit> smallest_fit(const TrainJob& job, const Parts& parts, double capacity,
                                        int domain, int most);

}  // namespace isleway::plan
