// What -q tells of a GPU's fabric and of the processes on it.
#include "virtual/smi/common.hpp"
#include "virtual/smi/report.hpp"

namespace isleway::vgpu::smi {
namespace {

using nvml::FabricState;
using nvml::Gpu;
using nvml::Health;
using nvml::Monitor;

const char* state_text(const FabricState& fabric) {
  switch (fabric.state) {
    case FabricState::not_started: return "Not Started";
    case FabricState::in_progress: return "In Progress";
    case FabricState::completed: return "Completed";
    case FabricState::not_supported: break;
  }
  return kNotKnown;
}

std::string status_text(const FabricState& fabric) {
  if (fabric.state != FabricState::completed) return kNotKnown;
  return fabric.resources ? "Success" : "Insufficient Resources";
}

std::string choose(Health health, const char* bad, const char* good) {
  return health == Health::not_told ? kNotKnown : health == Health::bad ? bad : good;
}

Entry fabric(const FabricState& fabric) {
  const bool told = fabric.state == FabricState::completed;
  const nvml::FabricHealth health = nvml::fabric_health(fabric);
  const std::string summary = health.summary.empty() ? kNotKnown : std::string(health.summary);
  return {"Fabric",
          "fabric",
          "",
          {{"State", "state", state_text(fabric), {}},
           {"Status", "status", status_text(fabric), {}},
           {"CliqueId", "cliqueId", told ? fmt::format("{}", fabric.clique) : kNotKnown, {}},
           {"ClusterUUID", "clusterUuid", told ? uuid_text(fabric.cluster) : kNotKnown, {}},
           {"Health",
            "health",
            "",
            {{"Summary", "summary", summary, {}},
             {"Bandwidth", "bandwidth", choose(health.bandwidth, "Degraded", "Full"), {}},
             {"Route Recovery in progress",
              "route_recovery_in_progress",
              choose(health.recovering, "True", "False"),
              {}},
             {"Route Unhealthy", "route_unhealthy", choose(health.route, "True", "False"), {}},
             {"Access Timeout Recovery",
              "access_timeout_recovery",
              choose(health.timeout, "True", "False"),
              {}},
             {"Incorrect Configuration",
              "incorrect_configuration",
              choose(health.configuration, "No Partition", "None"),
              {}}}}}};
}

Entry processes(Monitor& monitor, const Gpu& gpu) {
  const std::vector<MemoryUse> uses = monitor.memory_uses(gpu);
  if (uses.empty()) return {"Processes", "processes", "None", {}};
  Entry all{"Processes", "processes", "", {}};
  for (const MemoryUse& use : uses) {
    const std::string memory = fmt::format("{} MiB", use.bytes >> 20);
    const std::string pid = fmt::format("{}", use.pid);
    all.below.push_back(
        {"Process ID", "", pid, {{"Type", "", "C", {}}, {"Used GPU Memory", "", memory, {}}}});
    all.below.push_back(
        {"",
         "process_info",
         "",
         {{"", "pid", pid, {}}, {"", "type", "C", {}}, {"", "used_memory", memory, {}}}});
  }
  return all;
}

}  // namespace

std::vector<Entry> describe_fabric(Monitor& monitor, const Gpu& gpu) {
  return {fabric(gpu.fabric),
          processes(monitor, gpu),
          {"Capabilities", "capabilities", "", {{"EGM", "egm", "disabled", {}}}}};
}

}  // namespace isleway::vgpu::smi
