// Why a call takes the time that it takes, and what would change that.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isleway/fabric/siblings.hpp"
#include "isleway/nccl/bench.hpp"

namespace isleway::nccl {

/// An algorithm in a protocol: what NCCL thinks of it and what the machine would take.
struct Alternative {
  Candidate candidate;
  std::optional<BenchRow> row;  ///< simulated; nothing where it is not available
  std::string why_no_row;       ///< available to NCCL, but not to this model
};

/// What is made better: twice as fast, or half as dear.
enum class Improvement : std::uint8_t {
  link_rate,      ///< the bottleneck alone
  sibling_rates,  ///< all links like the bottleneck
  hop_latency,    ///< of every message that crosses a link like the bottleneck
  thread_rate,    ///< what the threads of one channel move
  message_cost,   ///< what a sender spends on each message
  launch,         ///< of the kernel
};

/// The same call, in the same way, with one improvement.
struct WhatIf {
  Improvement improvement;
  Time time;
};

/// One variable set otherwise, and what becomes of the call.
struct SettingEffect {
  std::string name, value;
  Decision decision;
  Time time;
};

/// NCCL's choice from `bytes` on, up to the next one.
struct ChoiceFrom {
  std::int64_t bytes = 0;
  Decision decision;
};

struct Explanation {
  BenchRow chosen;
  std::size_t siblings = 0;  ///< links like the bottleneck, itself among them; 0 without one
  std::vector<Alternative> alternatives;  ///< by NCCL's estimate; what it cannot use comes last
  std::vector<WhatIf> what_ifs;           ///< as the enumeration has them
  std::vector<SettingEffect> settings;    ///< those that make a difference, fastest first
  std::vector<ChoiceFrom> choices;        ///< over all sizes, by size

  /// The option that the simulation finds fastest; null when nothing was chosen among options.
  const Alternative* fastest() const;
};

/// What is asked about: the machine, how NCCL is set up, and the call.
struct Question {
  const Fabric& fabric;
  const Parts& parts;
  const Options& options;
  const Engine& engine;
  BenchCall call;
  std::int64_t bytes = 0;
};

/// Error: NCCL's or the engine's reason why there is no such call; a size of 0.
Result<Explanation> explain(const Question& question);

}  // namespace isleway::nccl
