#include "cli/engine_options.hpp"

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/option_group.hpp"
#include "isleway/engine/packet.hpp"

namespace isleway::cli {

void add_packet_options(OptionGroup& group, PacketFlags& flags) {
  group
      .add("--ber", flags.bit_error_rate,
           "With --engine packet: wrong bits per bit on NVLinks; also shows their counters", "RATE")
      ->check(CLI::Range(0.0, 0.5));
  group.add_with_default("--seed", flags.seed, "Of the wrong bits", "N");
  group.add_flag("--counters", flags.counters,
                 "With --engine packet: what the links counted, under NVML's names");
  group
      .add(
          "--threads", flags.threads,
          "With --engine packet: of one simulation (default: as many as there are cores, where the "
          "network is large enough); the results do not depend on it",
          "N")
      ->check(CLI::Range(1, 1024));
}

Result<std::unique_ptr<Engine>> choose_engine(const std::string& name, const PacketFlags& flags,
                                              const SpeedUps& speed_ups, const Parts& parts,
                                              report::Trace* trace) {
  if (name == "packet") {
    auto rules = link::Rules::from(parts);
    if (!rules) return tl::unexpected(rules.error());
    PacketOptions options;
    options.rules = *std::move(rules);
    options.bit_error_rate = flags.bit_error_rate;
    options.seed = flags.seed;
    options.threads = flags.threads;
    return make_packet_engine(options, trace);
  }
  if (name == "flow" && trace != nullptr) return make_flow_engine(speed_ups, trace);
  if (trace != nullptr && name == "analytic")
    return fail("--trace: the closed form knows no course of events", "--engine flow or packet");
  return make_engine(name, speed_ups);
}

int write_trace(const std::string& file, const Fabric& fabric, const report::Trace& trace,
                int ranks) {
  if (trace.left_out() > 0)
    fmt::print(stderr, "note: the trace holds the first million spans; {} more are left out\n",
               trace.left_out());
  const bool csv = file.size() >= 4 && file.compare(file.size() - 4, 4, ".csv") == 0;
  return print_to(file, csv ? report::link_loads_csv(fabric, trace)
                            : report::chrome_trace(fabric, trace, ranks));
}

}  // namespace isleway::cli
