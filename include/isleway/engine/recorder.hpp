// Who looks on while an engine runs.
#pragma once

#include "isleway/engine/schedule.hpp"
#include "isleway/fabric/path.hpp"

namespace isleway {

/// Told what happened when it is over, in an order that does not depend on luck. Times count from
/// the beginning of the call.
class Recorder {
 public:
  struct ActionSpan {
    Port port;
    std::int64_t bytes = 0;
    Time begin, end;
  };
  struct MessageSpan {
    Port from, to;
    std::int64_t bytes = 0;  ///< payload
    double wire_bytes = 0;
    const Route* route = nullptr;  ///< null: on one device. Outlives only the call
    Time begin, sent, arrived;
  };

  virtual ~Recorder() = default;
  virtual void run_begins() = 0;
  virtual void action(const ActionSpan& span) = 0;
  virtual void message(const MessageSpan& span) = 0;
};

}  // namespace isleway
