#include "isleway/virtual/run_plan.hpp"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "isleway/core.hpp"

namespace isleway::vgpu {
namespace {

using Json = nlohmann::ordered_json;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

}  // namespace

std::string plan_text(const RunPlan& plan) {
  const formats::MachineRequest& machine = plan.machine;
  return Json{{"machine", machine.machine},
              {"network", machine.network},
              {"gpu", machine.gpu},
              {"first_gpus", machine.first_gpus},
              {"gpus", machine.gpus},
              {"ranks", machine.ranks},
              {"nvlink_hosts", machine.nvlink_hosts},
              {"faults", machine.faults},
              {"mig", machine.mig},
              {"partition", machine.partition},
              {"confidential", machine.confidential},
              {"data_folder", plan.data_folder},
              {"time", static_cast<int>(plan.time)},
              {"scale", plan.scale},
              {"by_tray", plan.by_tray},
              {"data", plan.data},
              {"kernels", static_cast<int>(plan.kernels)}}
      .dump();
}

Result<RunPlan> parse_plan(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return fail("the plan of a run is no JSON object");
  RunPlan plan;
  try {
    formats::MachineRequest& machine = plan.machine;
    machine.machine = json.at("machine");
    machine.network = json.at("network");
    machine.gpu = json.at("gpu");
    machine.first_gpus = json.at("first_gpus");
    machine.gpus = json.at("gpus");
    machine.ranks = json.at("ranks");
    machine.nvlink_hosts = json.at("nvlink_hosts");
    machine.faults = json.at("faults").get<std::vector<std::string>>();
    machine.mig = json.at("mig");
    machine.partition = json.at("partition");
    machine.confidential = json.at("confidential");
    plan.data_folder = json.at("data_folder");
    plan.time = static_cast<TimeMode>(json.at("time").get<int>());
    plan.scale = json.at("scale");
    plan.by_tray = json.at("by_tray");
    plan.data = json.at("data");
    plan.kernels = static_cast<UnknownKernels>(json.at("kernels").get<int>());
  } catch (const nlohmann::json::exception& error) {
    return fail(std::string("the plan of a run: ") + error.what());
  }
  return plan;
}

Result<void> parse_time_mode(std::string_view text, RunPlan& plan) {
  constexpr std::string_view scaled = "scaled=";
  if (text == "virtual" || text == "simulated" || text.empty()) {
    plan.time = TimeMode::simulated;
  } else if (text == "real") {
    plan.time = TimeMode::real;
  } else if (text.starts_with(scaled)) {
    const auto scale = parse_double(text.substr(scaled.size()));
    if (!scale || !(*scale > 0) || *scale > 1e9)
      return fail("\"" + std::string(text) + "\" is no scale", "a number above 0, as in scaled=10");
    plan.time = TimeMode::scaled;
    plan.scale = *scale;
  } else {
    return fail("\"" + std::string(text) + "\" is no kind of time",
                "virtual, real or scaled=NUMBER");
  }
  return {};
}

Result<RunPlan> plan_from_environment() {
  RunPlan plan;
  plan.machine.machine = environment("ISLEWAY_MACHINE");
  plan.machine.network = environment("ISLEWAY_NETWORK");
  if (plan.machine.machine.empty())
    return fail("no machine is named for the virtual GPUs", "a machine in ISLEWAY_MACHINE",
                "start the program with: isleway run -m MACHINE -- PROGRAM");
  if (auto ok = parse_time_mode(environment("ISLEWAY_TIME"), plan); !ok)
    return tl::unexpected(ok.error());
  return plan;
}

}  // namespace isleway::vgpu
