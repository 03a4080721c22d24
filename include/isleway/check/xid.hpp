// What the driver's Xid and the switches' SXid numbers mean.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "isleway/check/finding.hpp"

namespace isleway::check {

struct XidMeaning {
  std::string title, action;
  Severity severity = Severity::warning;
  Severity nonfatal = Severity::warning;  ///< where the message says that it is not fatal
  std::vector<int> follows;               ///< numbers that explain this one
  bool follows_sxid = false;              ///< a fatal SXid explains it too
  bool application = false;               ///< more often the program's fault
};

struct XidTable {
  std::map<int, XidMeaning> xids, sxids;
  static Result<XidTable> from_yaml(const std::string& text, const std::string& file);
};

}  // namespace isleway::check
