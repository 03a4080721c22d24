// From what outputs state to what is wrong.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isleway/check/rules.hpp"
#include "isleway/fabric.hpp"
#include "isleway/formats.hpp"

namespace isleway::check {

/// A machine or a measurement that an output held, as other parts of this program read it.
struct Content {
  std::string node;
  std::string file;
  formats::Document document;
};

struct Input {
  formats::Signals signals;
  std::vector<Content> contents;
};

struct Context {
  const Catalogue& catalogue;
  const RuleBook& rules;
  std::optional<Fabric> machine;  ///< what it should be, where the user says so
};

/// Never fails: what cannot be judged is a finding of its own.
Report check(const Input& input, const Context& context);

}  // namespace isleway::check
