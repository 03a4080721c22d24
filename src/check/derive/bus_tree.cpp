// Distances between GPUs and NICs by the bridges above them, where only lspci shows these.
#include <algorithm>
#include <vector>

#include "check/derivation.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

constexpr std::size_t kMostDevices = 256;
constexpr std::size_t kMostHops = 16;

struct Device {
  std::string name;
  const Signal* line = nullptr;
  std::vector<std::string> above;  ///< addresses of its bridges, the nearest first
  double numa = -1;
};

/// By the name that lspci prints: with -t nothing tells the class.
bool is_gpu(const NodeFacts& node, const Signal& device) {
  const Signal* kind = node.find("pcie.class", device.subject);
  if (kind && !is_like_any(value_text(*kind), {"3D controller", "VGA*", "Processing acc*"}))
    return false;
  const std::string name = value_text(device);
  return is_like(name, "*NVIDIA*") &&
         !is_like_any(name, {"*Audio*", "*USB*", "*UCSI*", "*NVSwitch*", "*Bridge*"}) &&
         (kind || is_like(name, "*[*]*"));
}

bool is_nic(const NodeFacts& node, const Signal& device) {
  if (const Signal* kind = node.find("pcie.class", device.subject))
    return is_like_any(value_text(*kind), {"Infiniband*", "Ethernet*", "Network*"});
  return is_like_any(value_text(device), {"*ConnectX*", "*BlueField*integrated*",
                                          "*Elastic Fabric*", "*BCM57*", "*BCM95*", "*Thor*"});
}

Device describe(const NodeFacts& node, const Signal& line, std::string name) {
  Device device{std::move(name), &line, {}, -1};
  if (const Signal* numa = node.find("pcie.numa", line.subject)) device.numa = number_of(*numa);
  const Signal* up = node.find("pcie.parent", line.subject);
  for (; up && device.above.size() < kMostHops; up = node.find("pcie.parent", value_text(*up)))
    device.above.push_back(value_text(*up));
  return device;
}

/// One switch between them is the port below it, the switch's own, and the port below the other.
const char* distance(const Device& gpu, const Device& nic) {
  constexpr std::size_t kOneSwitch = 1;
  for (std::size_t i = 0; i < gpu.above.size(); ++i) {
    const auto common = std::find(nic.above.begin(), nic.above.end(), gpu.above[i]);
    if (common == nic.above.end()) continue;
    const auto below = static_cast<std::size_t>(common - nic.above.begin());
    return std::max(i, below) <= kOneSwitch ? "PIX" : "PXB";
  }
  const auto root_of = [](const Device& device) {
    const std::string& top = device.above.empty() ? device.line->subject : device.above.back();
    return std::string_view(top).substr(0, top.rfind(':'));
  };
  if (root_of(gpu) == root_of(nic)) return "PHB";
  return gpu.numa >= 0 && gpu.numa == nic.numa ? "NODE" : "SYS";
}

void derive_bus_tree(Facts& facts, const Input&, const Context&) {
  for (NodeFacts& node : facts.nodes()) {
    if (!node.has("pcie.parent") || node.has("topo.link") || node.has("declared.distance"))
      continue;
    std::vector<Device> gpus, nics;
    for (const Fact& fact : node.named("pcie.device")) {
      const Signal& line = *fact.signal;
      if (is_gpu(node, line))
        gpus.push_back(describe(node, line, "gpu" + std::to_string(gpus.size())));
      else if (is_nic(node, line)) nics.push_back(describe(node, line, line.subject));
    }
    if (gpus.size() > kMostDevices || nics.size() > kMostDevices) continue;
    for (const Device& gpu : gpus)
      for (const Device& nic : nics)
        node.add(Derived{{"declared.distance", gpu.name, nic.name, distance(gpu, nic), "", {}, ""},
                         {gpu.line},
                         {}});
  }
}

}  // namespace

extern const Derivation bus_tree_derivation;
const Derivation bus_tree_derivation = {"Distances by the bridges that lspci shows",
                                        derive_bus_tree};

}  // namespace isleway::check
