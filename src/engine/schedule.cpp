#include "isleway/engine/schedule.hpp"

#include <map>
#include <utility>

namespace isleway {

void Schedule::loads(const std::function<void(const Load&)>& visit) const {
  std::map<std::pair<Port, Port>, Load> loads;  // ordered, so that visits never depend on luck
  Action action;
  for (std::int32_t agent = 0; agent < agents(); ++agent) {
    for (std::int32_t stream = 0; stream < streams(); ++stream) {
      const Port from{agent, stream};
      const std::int64_t count = action_count(from);
      for (std::int64_t k = 0; k < count; ++k) {
        this->action(from, k, action);
        for (const Port to : action.send) {
          Load& load = loads[{from, to}];
          load.bytes += action.bytes;
          ++load.messages;
        }
        if (!serves_itself(action)) continue;
        Load& own = loads[{from, from}];
        own.bytes += action.bytes;
        ++own.messages;
        own.reduces = !action.recv.empty();
      }
    }
  }
  for (auto& [ends, load] : loads) {
    load.from = ends.first;
    load.to = ends.second;
    visit(load);
  }
}

}  // namespace isleway
