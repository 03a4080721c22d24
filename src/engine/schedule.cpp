#include "isleway/engine/schedule.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/mix.hpp"

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

namespace {

/// The place of a port in a list, to which it is added where it is new.
std::size_t place_in(std::vector<Port>& ports, Port port) {
  // Mostly the peer of the action before, or one of few.
  const auto found = std::ranges::find(ports, port);
  const auto place = static_cast<std::size_t>(found - ports.begin());
  if (found == ports.end()) ports.push_back(port);
  return place;
}

}  // namespace

std::uint64_t Schedule::role(Port port) const {
  Peers peers;
  Action action;
  const std::int64_t count = action_count(port);
  std::uint64_t role = mix(static_cast<std::uint64_t>(count), port.agent < ranks() ? 1 : 0);
  for (std::int64_t k = 0; k < count; ++k) {
    this->action(port, k, action);
    role =
        mix(role, static_cast<std::uint64_t>(action.bytes) * 2 + (serves_itself(action) ? 1 : 0));
    role = mix(role, action.recv.size() << 32 | action.send.size());
    for (const Port from : action.recv) role = mix(role, place_in(peers.receives, from));
    for (const Port to : action.send) role = mix(role, place_in(peers.sends, to));
  }
  return role;
}

void Schedule::peers(Port port, Peers& out) const {
  out.clear();
  Action action;
  const std::int64_t count = action_count(port);
  for (std::int64_t k = 0; k < count; ++k) {
    this->action(port, k, action);
    for (const Port from : action.recv) place_in(out.receives, from);
    for (const Port to : action.send) place_in(out.sends, to);
  }
}

}  // namespace isleway
