// The same call under the same load takes the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/fluid.hpp"
#include "engine/symmetry.hpp"

namespace isleway {

/// Remembers what a call took that met no other: one that shares no link with other calls of
/// the scenario, whose links do not change, and of which there is one at a time. Whether the
/// last holds shows only as time goes by.
class JobMemory {
 public:
  struct Record {
    std::int64_t length = 0;  ///< from its first action to the end of its last
    std::int64_t busy = 0;
    std::vector<std::pair<Fluid::Class, Fluid::Moved>> moved;
  };

  /// `forget` are calls known to meet themselves; `links` and `folding` as in the simulation.
  JobMemory(const Scenario& scenario, const Calls& calls, LinkUse& links, const Folding* folding,
            const std::vector<bool>& forget);

  /// The call begins at `now`. False: one like it that was not simulated is still under way, so
  /// that nothing of this simulation holds.
  bool begin(std::uint32_t call, std::int64_t now);
  /// What it will take, where that is known.
  const Record* recall(std::uint32_t call, std::int64_t now);
  void end(std::uint32_t call) { --calls_[call].under_way; }
  /// The call that ends now may be remembered.
  bool wants(std::uint32_t call) const {
    return calls_[call].alone && !calls_[call].record && calls_[call].jobs > 1;
  }
  void remember(std::uint32_t call, Record record) { calls_[call].record = std::move(record); }

 private:
  struct Call {
    bool alone = true;
    std::uint32_t jobs = 0;
    std::uint32_t under_way = 0;  ///< that are simulated
    std::int64_t recalled_until = 0;
    std::optional<Record> record;
  };
  void find_alone(const Scenario& scenario, const Calls& calls, LinkUse& links,
                  const Folding* folding);
  std::vector<Call> calls_;
};

}  // namespace isleway
