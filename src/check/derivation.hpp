// Expectations that no single value can state: each file of src/check/derive works out facts
// from others, for rules to judge. docs/check.md lists them.
#pragma once

#include <span>

#include "check/facts.hpp"
#include "isleway/check/check.hpp"

namespace isleway::check {

struct Derivation {
  const char* what;
  void (*derive)(Facts& facts, const Input& input, const Context& context);
};

/// In the order of their files' names. Made by the build.
std::span<const Derivation* const> derive();

}  // namespace isleway::check
