// A saved state of nodes, to see later what has changed.
#pragma once

#include <map>
#include <string>

#include "isleway/check/profile.hpp"
#include "isleway/formats/signal.hpp"

namespace isleway::check {

struct Baseline {
  /// By node, the profile entry's signal, and the subject: the value.
  std::map<std::string, std::map<std::string, std::map<std::string, std::string>>> nodes;

  static Baseline of(const formats::Signals& signals, const Profile& profile);
  std::string to_json() const;
  /// Error: no JSON, or another kind of document.
  static Result<Baseline> from_json(const std::string& text, const std::string& file);
};

}  // namespace isleway::check
