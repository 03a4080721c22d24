#include <fmt/format.h>

#include "isleway/engine/schedule.hpp"

namespace isleway {

std::string port_text(const Schedule& schedule, Port port) {
  return fmt::format("{} {} stream {}", port.agent < schedule.ranks() ? "rank" : "switch agent",
                     port.agent, port.stream);
}

}  // namespace isleway
