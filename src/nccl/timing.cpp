#include "nccl/timing.hpp"

#include <fmt/format.h>

namespace isleway::nccl {
namespace {

constexpr const char* kProtocolKeys[] = {"ll", "ll128", "simple"};
constexpr const char* kTransportKeys[] = {"self", "nvlink", "pcie", "host", "network"};
constexpr const char* kArchitectureKeys[] = {"volta", "ampere", "hopper", "blackwell"};

/// Reads constants until one is missing, and remembers which.
class Constants {
 public:
  explicit Constants(const Parts& parts) : parts_(parts) {}

  double value(const std::string& key) {
    const Constant* constant = parts_.constant(key);
    if (constant == nullptr && missing_.empty()) missing_ = key;
    return constant != nullptr ? constant->value : 0;
  }
  Time us(const std::string& key) { return Time::us(value(key)); }
  Rate GBs(const std::string& key) { return Rate::GBs(value(key)); }

  const std::string& missing() const { return missing_; }

 private:
  const Parts& parts_;
  std::string missing_;
};

}  // namespace

Result<Timing> Timing::read(const Parts& parts, Architecture architecture,
                            const std::string& network) {
  Constants constants(parts);
  Timing timing;
  const char* gpu = kArchitectureKeys[static_cast<std::size_t>(architecture)];
  for (std::size_t p = 0; p < kProtocolCount; ++p) {
    ProtocolTiming& protocol = timing.protocol[p];
    protocol.block_rate = constants.GBs(fmt::format("nccl.block.{}.{}", gpu, kProtocolKeys[p]));
    for (std::size_t t = 1; t < kTransports; ++t) {
      if (t == static_cast<std::size_t>(Transport::network) && network.empty()) continue;
      const char* where = kTransportKeys[t];
      protocol.hop[t] = constants.us(fmt::format("nccl.hop.{}.{}", where, kProtocolKeys[p]));
      protocol.message[t] =
          constants.us(fmt::format("nccl.message.{}.{}", where, kProtocolKeys[p]));
    }
  }
  timing.kernel = constants.us("nccl.kernel");
  timing.host = constants.us("nccl.host.call");
  timing.host_peer = constants.us("nccl.host.peer");
  timing.graph_saving = constants.us("nccl.host.graph_saving");
  timing.own_rate =
      timing.protocol[index_of(Protocol::simple)].block_rate * constants.value("nccl.own_share");
  timing.proxy_peer = constants.us("nccl.proxy.peer");
  timing.drift = constants.us("nccl.drift");
  if (architecture >= Architecture::hopper) {  // earlier switches do not reduce
    timing.nvls_hop = constants.us(fmt::format("nccl.nvls.hop.{}", gpu));
    timing.nvls_block_rate = constants.GBs(fmt::format("nccl.nvls.block.{}", gpu));
  }
  if (!network.empty()) timing.network_reduction = constants.value("nccl.network_reduction");
  if (const Constant* stack = parts.constant("nccl.stack." + network))
    timing.stack = Time::us(stack->value);
  if (!constants.missing().empty())
    return fail("the parts catalogue has no constant \"" + constants.missing() + "\"",
                "it in machines/parts/timing.yaml", "take the file that came with this program");
  return timing;
}

}  // namespace isleway::nccl
