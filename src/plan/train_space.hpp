// The layouts that a number of GPUs allows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "isleway/plan/train_search.hpp"

namespace isleway::plan {

/// One way to divide the model; the rest of a layout varies inside it.
struct Division {
  int tensor = 1, context = 1, pipeline = 1;
};

/// Counts of what was left out, by reason.
class Rejections {
 public:
  void add(const std::string& reason, const TrainLayout& example, std::size_t count = 1);
  void merge(const Rejections& other);
  std::vector<Rejection> sorted() const;

 private:
  std::vector<Rejection> all_;
};

/// Every division of `ranks` by powers of two and the model's own divisors.
std::vector<Division> divisions(const TrainJob& job, int ranks, const SearchOptions& options,
                                Rejections& rejections);

/// Calls `visit` with each layout of a division.
void for_each_layout(const TrainJob& job, int ranks, const Division& division,
                     const SearchOptions& options, Rejections& rejections,
                     const std::function<void(const TrainLayout&)>& visit);

}  // namespace isleway::plan
