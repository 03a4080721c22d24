// What makes a node what it is: for sisters, for drift, and for the table over a cluster.
#pragma once

#include <string>
#include <vector>

#include "isleway/check/finding.hpp"

namespace isleway::check {

struct ProfileEntry {
  std::string signal, title;
  std::string column;                  ///< heading in the table; empty: not shown
  bool per_subject = true;             ///< else all values of the node together
  bool presence = false;               ///< whether there is one, whatever its value
  std::vector<std::string> subjects;   ///< patterns; empty: all
  Severity severity = Severity::note;  ///< of a difference between sisters
  bool compare = true;                 ///< between sisters
  Severity drift = Severity::note;     ///< of a change since a saved state
};

struct Profile {
  std::vector<ProfileEntry> entries;
  static Result<Profile> from_yaml(const std::string& text, const std::string& file);
};

}  // namespace isleway::check
