// Measurements beside the expectation, in words and as JSON.
#pragma once

#include <span>
#include <string>

#include "isleway/verify/compare.hpp"

namespace isleway::report {

/// All that one file gave.
struct ComparedFile {
  std::string machine;
  std::vector<verify::Comparison> comparisons;
  std::vector<verify::Finding> findings;
  std::vector<std::string> skipped;  ///< tables that have no counterpart here

  /// The worst of all; unknown where there is nothing.
  verify::Verdict verdict() const;
};

/// With `everything`, every cell of a matrix and not only the worst.
std::string comparison_text(const ComparedFile& file, bool everything);
/// See docs/json.md.
std::string comparison_json(const ComparedFile& file);

}  // namespace isleway::report
