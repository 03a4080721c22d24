#include "isleway/link/rules.hpp"

#include <fmt/format.h>

#include <optional>

namespace isleway::link {
namespace {

class Reader {
 public:
  explicit Reader(const Parts& parts) : parts_(parts) {}

  double number(const char* key, double least = 0) {
    const Constant* constant = parts_.constant(key);
    if (constant != nullptr && constant->value >= least) return constant->value;
    if (!error_)
      error_ =
          Error{{},
                constant == nullptr ? fmt::format("the parts catalogue has no constant {}", key)
                                    : fmt::format("the constant {} is {}", key, constant->value),
                constant == nullptr ? "it among the constants of a file in machines/parts"
                                    : fmt::format("at least {}", least),
                "take machines/parts/link-layer.yaml from the program's own data"};
    return least;
  }
  int whole(const char* key, int least) { return static_cast<int>(number(key, least)); }
  Time us(const char* key) { return Time::us(number(key)); }
  Bytes kib(const char* key) { return Bytes(static_cast<std::int64_t>(number(key) * 1024)); }
  const std::optional<Error>& error() const { return error_; }

 private:
  const Parts& parts_;
  std::optional<Error> error_;
};

}  // namespace

Result<Rules> Rules::from(const Parts& parts) {
  Reader read(parts);
  Rules rules;
  const int flit = read.whole("nvlink.flit", 1);
  const int header = flit * read.whole("nvlink.header_flits", 1);
  rules.nvlink_copy = {read.whole("nvlink.payload.copy_engine", 1), header, flit};
  rules.nvlink_sm = {read.whole("nvlink.payload.sm", 1), header, flit};
  rules.pcie = {read.whole("pcie.payload", 1), read.whole("pcie.tlp_overhead", 0), 4};
  rules.infiniband = {read.whole("infiniband.mtu", 1), read.whole("infiniband.headers", 0), 4};
  rules.ethernet = {read.whole("roce.mtu", 1), read.whole("roce.headers", 0), 4};
  rules.buffer_round_trips = read.number("link.buffer_round_trips", 1);
  rules.switch_buffer = read.kib("pfc.xoff");
  rules.pause_resume_gap = read.kib("pfc.gap");
  rules.ecn = {read.kib("ecn.low"), read.kib("ecn.high"), read.number("ecn.most")};
  rules.dcqcn.gain = read.number("dcqcn.gain");
  rules.dcqcn.alpha_timer = read.us("dcqcn.alpha_timer");
  rules.dcqcn.increase_timer = read.us("dcqcn.increase_timer");
  rules.dcqcn.additive = Rate::gbits(read.number("dcqcn.additive"));
  rules.dcqcn.hyper = Rate::gbits(read.number("dcqcn.hyper"));
  rules.dcqcn.fast_recovery = read.whole("dcqcn.fast_recovery", 1);
  rules.dcqcn.notification_gap = read.us("dcqcn.notification_gap");
  rules.dcqcn.least = Rate::gbits(read.number("dcqcn.least", 1e-3));
  rules.training.worst_lane_ber = read.number("nvlink.training.worst_lane_ber");
  rules.training.off = read.us("nvlink.training.timeout.off");
  rules.training.safe = read.us("nvlink.training.timeout.safe");
  rules.training.high_speed = read.us("nvlink.training.timeout.high_speed");
  rules.training.post_high_speed = read.us("nvlink.training.timeout.post_high_speed");
  rules.replay_attempts = read.whole("nvlink.replay.attempts", 1);
  rules.recovery = read.us("nvlink.recovery");
  rules.fec = {read.whole("nvlink.fec.symbols", 1), read.whole("nvlink.fec.symbol_bits", 1),
               read.whole("nvlink.fec.corrects", 0)};
  rules.fec_generation = read.whole("nvlink.fec.generation", 1);
  if (read.error()) return tl::unexpected(*read.error());
  return rules;
}

Framing Rules::framing(const Link& link, bool copy, bool ethernet_network) const {
  switch (link.kind) {
    case LinkKind::nvlink:
    case LinkKind::xgmi:
    case LinkKind::c2c: return copy ? nvlink_copy : nvlink_sm;
    case LinkKind::pcie:
    case LinkKind::smp: return pcie;
    case LinkKind::network: return ethernet_network ? ethernet : infiniband;
  }
  return infiniband;
}

}  // namespace isleway::link
