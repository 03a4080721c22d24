// Streams that do the same at the same time, so that one of them stands for all.
#pragma once

#include <optional>
#include <vector>

#include "engine/carriers.hpp"
#include "engine/programs.hpp"
#include "isleway/engine/scenario.hpp"

namespace isleway {

/// A scenario in which equal streams, connections, flow classes and link directions were put
/// together: the coarsest division in which the members of a set cannot be told apart by what
/// they do, what they are joined to, and what that does.
struct Folding {
  /// Flow classes and resources as the solver gets them: a member of each set, and what all
  /// members of a set of classes together use of it.
  struct Class {
    std::vector<Usage> uses;
    double cap = 0;
    double members = 1;
  };
  std::vector<double> capacity;
  std::vector<Class> classes;

  std::vector<std::uint32_t> resource_set;  ///< by resource of the links in use
  std::vector<std::uint32_t> carrier_set;   ///< by carrier: its set among `classes`
  Carriers carriers;
  /// By pair of schedule and wiring, in the order in which jobs first name them.
  std::vector<FoldedStreams> calls;
};

/// Which job makes which call: its place among the different pairs of schedule and wiring.
struct Calls {
  explicit Calls(const Scenario& scenario);
  std::vector<const Job*> first;       ///< by call: a job that makes it
  std::vector<std::uint32_t> call_of;  ///< by job; UINT32_MAX where nothing moves
};

/// Nothing where too little is equal, where there is traffic beside the jobs, or where a
/// connection is wrong (which the simulation then says). A link that changes is equal only to
/// those that change alike. `links` gets all ways.
std::optional<Folding> fold(const Scenario& scenario, const Calls& calls, LinkUse& links);

}  // namespace isleway
