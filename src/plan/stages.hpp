// Which layers each pipeline stage has.
#pragma once

#include <vector>

#include "isleway/model/transformer.hpp"

namespace isleway::plan {

/// Layers [first, last) of one virtual stage.
struct StageLayers {
  int first = 0, last = 0;
  int count() const { return last - first; }
};

/// Contiguous stages, as even as can be. Where layers do not divide, the first and the last
/// stage, which also have the embedding and the loss, get one less before any other.
std::vector<StageLayers> split_layers(int layers, int stages);

}  // namespace isleway::plan
