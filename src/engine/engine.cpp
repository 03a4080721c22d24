#include "isleway/engine/engine.hpp"

#include "isleway/core/text.hpp"

namespace isleway {

Rate payload_rate(const Link& link, Mover mover) {
  return link.rate() * (mover == Mover::sm ? link.efficiency.sm : link.efficiency.copy_engine);
}

Result<std::unique_ptr<Engine>> make_engine(std::string_view name, const SpeedUps& speed_ups) {
  if (name == "analytic") return make_analytic_engine();
  if (name == "flow") return make_flow_engine(speed_ups);
  return fail("there is no engine \"" + std::string(name) + "\"",
              "analytic, flow or (in bench and p2p) packet");
}

Result<SpeedUps> parse_speed_ups(std::string_view text) {
  if (text == "all") return SpeedUps{};
  SpeedUps wanted = SpeedUps::none();
  if (text == "none") return wanted;
  for (const std::string_view name : split(text, ',')) {
    if (name == "symmetry") wanted.symmetry = true;
    else if (name == "memory") wanted.memory = true;
    else if (name == "period") wanted.period = true;
    else
      return fail("there is no speed-up \"" + std::string(name) + "\"",
                  "all, none, or a list of symmetry, memory, period");
  }
  return wanted;
}

}  // namespace isleway
