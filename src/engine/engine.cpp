#include "isleway/engine/engine.hpp"

namespace isleway {

Rate payload_rate(const Link& link, Mover mover) {
  return link.rate() * (mover == Mover::sm ? link.efficiency.sm : link.efficiency.copy_engine);
}

Result<std::unique_ptr<Engine>> make_engine(std::string_view name) {
  if (name == "analytic") return make_analytic_engine();
  if (name == "flow") return make_flow_engine();
  return fail("there is no engine \"" + std::string(name) + "\"",
              "analytic, flow or (in bench and p2p) packet");
}

}  // namespace isleway
