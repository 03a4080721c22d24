// What is wrong, how that is known, and what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isleway/core/error.hpp"

namespace isleway::check {

/// By what to look at first. `unknown`: the outputs do not let it be judged. `not_a_fault`: it
/// alarms people and other tools, and is as it should be. `good`: held against an expectation,
/// and met.
enum class Severity : std::uint8_t { critical, warning, unknown, note, not_a_fault, good };
const char* name_of(Severity severity);

/// How well the cause is known.
enum class Sure : std::uint8_t { certain, likely, possible };
const char* name_of(Sure sure);

/// A line of an output.
struct Evidence {
  std::string node;
  Location where;
  std::string quote;
  friend bool operator==(const Evidence& a, const Evidence& b) {
    return a.where.line == b.where.line && a.where.file == b.where.file && a.quote == b.quote;
  }
};

struct Finding {
  std::string rule;  ///< its id
  Severity severity = Severity::note;
  std::string title;                  ///< one sentence
  std::vector<std::string> nodes;     ///< empty: nothing names a host
  std::vector<std::string> subjects;  ///< "gpu3/link2", "mlx5_0"; may be empty
  std::vector<Evidence> evidence;     ///< the first lines; `evidence_lines` of them in all
  std::size_t evidence_lines = 0;
  std::string explanation, cause, action, confirm, reference;  ///< each may be empty
  Sure sure = Sure::likely;                                    ///< of `cause`
  std::vector<std::string> follows_from;  ///< ids of other findings that explain this one
};

/// A row of the table over a cluster: what there is on a node, by the columns' titles.
struct NodeRow {
  std::string node;
  std::vector<std::string> cells;  ///< "" where nothing says
  std::size_t critical = 0, warnings = 0;
  bool odd = false;  ///< differs from what most nodes have
};

struct Report {
  std::vector<Finding> findings;  ///< by what to do first
  std::vector<std::string> columns;
  std::vector<NodeRow> nodes;
  std::size_t facts = 0;  ///< read from the outputs

  /// critical, warning, good, or unknown where nothing at all could be judged.
  Severity verdict() const;
};

}  // namespace isleway::check
