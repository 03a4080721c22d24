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
/// stage, which also have the embedding and the loss, get one less before any other. Where ranks
/// differ in speed (stage s is on rank s mod their number), layers are in proportion to it.
std::vector<StageLayers> split_layers(int layers, int stages,
                                      const std::vector<double>& speeds = {});

}  // namespace isleway::plan
