// From what outputs state to what is wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isleway/check/baseline.hpp"
#include "isleway/check/gate.hpp"
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
  std::optional<Fabric> machine;     ///< what it should be, where the user says so
  std::optional<Baseline> baseline;  ///< to be compared with
  std::optional<Gate> gate;          ///< targets to be met
};

/// Gives a name to nodes whose outputs have none: by the one host that others name, or, where
/// several files hold the same kind of output, by file or folder.
void name_nodes(formats::Signals& signals);

/// Never fails: what cannot be judged is a finding of its own.
Report check(const Input& input, const Context& context);

}  // namespace isleway::check
