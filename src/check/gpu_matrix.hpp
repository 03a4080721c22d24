// What topo -m says between the GPUs of a node.
#pragma once

#include <string>
#include <vector>

#include "check/facts.hpp"

namespace isleway::check {

class GpuMatrix {
 public:
  explicit GpuMatrix(const NodeFacts& node);

  int size() const { return static_cast<int>(subjects_.size()); }
  const std::string& subject(int gpu) const { return subjects_[gpu]; }
  /// NVLinks between two GPUs, by whichever of the two rows is there; 0 without.
  int links(int a, int b) const { return links_[a * size() + b]; }
  int widest(int gpu) const;
  int sum(int gpu) const;
  /// The line that states it; of the other direction where this one is missing; may be null.
  const Signal* cell(int a, int b) const;
  /// Any cell of a GPU's row; may be null.
  const Signal* row(int gpu) const;
  const Signal* any() const { return row(0); }

 private:
  std::vector<std::string> subjects_;
  std::vector<int> links_;
  std::vector<const Signal*> cells_;
};

}  // namespace isleway::check
