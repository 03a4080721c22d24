// What may be wrong with a machine or with NCCL's settings on it, ready to be simulated.
#pragma once

#include <string>
#include <vector>

#include "isleway/verify/compare.hpp"

namespace isleway::verify {

/// A setup, and prices that no setting of NCCL and no link expresses.
struct Variant {
  Setup setup;
  Repricing repricing = {};
};

struct Hypothesis {
  std::string key, title, remedy;
  Variant variant;
};

/// All that can be wrong with this setup; what it has already is left out.
std::vector<Hypothesis> hypotheses(const Setup& setup, const Parts& parts);

/// The two halves of that: NCCL's settings, and links and devices.
void add_setting_hypotheses(const Setup& setup, std::vector<Hypothesis>& all);
void add_link_hypotheses(const Setup& setup, std::vector<Hypothesis>& all);
void add_network_hypotheses(const Setup& setup, const Parts& parts, std::vector<Hypothesis>& all);

}  // namespace isleway::verify
