// Which engine a command times with, and what only some engines can be told.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "isleway/engine.hpp"
#include "isleway/fabric.hpp"
#include "isleway/report/trace.hpp"

namespace CLI {
class App;
}

namespace isleway::cli {

class OptionGroup;

struct PacketFlags {
  double bit_error_rate = 0;
  std::uint64_t seed = 1;
  bool counters = false;
  int threads = 0;  ///< 0: as many as there are cores

  /// The links' counters are asked for.
  bool shows_counters() const { return counters || bit_error_rate > 0; }
};

/// --ber, --seed, --counters, --threads.
void add_packet_options(OptionGroup& group, PacketFlags& flags);

/// By name. Error: no such engine, or flags that it cannot heed. `trace` may be null.
Result<std::unique_ptr<Engine>> choose_engine(const std::string& name, const PacketFlags& flags,
                                              const SpeedUps& speed_ups, const Parts& parts,
                                              report::Trace* trace = nullptr);

/// Writes a trace: link loads where the name ends in .csv, else Chrome's trace events. Returns the
/// exit status.
int write_trace(const std::string& file, const Fabric& fabric, const report::Trace& trace,
                int ranks);

}  // namespace isleway::cli
