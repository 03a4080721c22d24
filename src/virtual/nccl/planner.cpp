#include "virtual/nccl/planner.hpp"

#include <algorithm>
#include <set>

#include "fabric/edit.hpp"

namespace isleway::vgpu::nccl {
namespace {

std::map<std::string, std::string> job_environment() {
  std::map<std::string, std::string> variables = isleway::nccl::environment();
  // Which host a process is on is the run's own business.
  std::erase_if(variables, [](const auto& variable) {
    return variable.first.starts_with("NCCL_HOSTID") || variable.first.starts_with("NCCL_TESTS_");
  });
  return variables;
}

}  // namespace

Result<Fabric> job_fabric(const Fabric& machine, const std::vector<GpuId>& gpus) {
  if (gpus.size() == machine.gpu_count()) return machine;
  const std::set<GpuId> wanted(gpus.begin(), gpus.end());
  Fabric job = machine;
  GpuId first = 0;
  for (std::uint32_t u = 0; u < machine.unit_count(); ++u) {
    const Unit& unit = machine.unit(u);
    std::set<std::pair<int, int>> kept;
    for (const DeviceIndex gpu : unit.gpus()) {
      const isleway::Device& device = unit.device(gpu);
      if (wanted.contains(first++)) kept.emplace(device.host, device.index);
    }
    if (kept.size() == unit.gpus().size()) continue;
    auto edited = edit_unit(job, u, [&](UnitParts& parts) -> Result<void> {
      remove_devices(parts, [&](const isleway::Device& device) {
        return device.kind == DeviceKind::gpu && !kept.contains({device.host, device.index});
      });
      return {};
    });
    if (!edited) return edited;
    job = std::move(*edited);
  }
  return job;
}

Planner::Planner(std::shared_ptr<const Present> present, Fabric job,
                 std::unique_ptr<isleway::nccl::Communicator> communicator)
    : present_(std::move(present)),
      job_(std::move(job)),
      communicator_(std::move(communicator)),
      engine_(make_analytic_engine()) {}

Result<std::unique_ptr<Planner>> Planner::make(std::shared_ptr<const Present> present,
                                               const Parts& parts, const std::vector<GpuId>& gpus,
                                               int gpus_per_process) {
  std::vector<GpuId> left;
  for (const GpuId gpu : gpus) {
    const auto now = present->gpu(gpu);
    if (!now) return fail("GPU " + std::to_string(gpu) + " has fallen off the bus");
    left.push_back(*now);
  }
  auto job = job_fabric(*present->fabric(), left);
  if (!job) return tl::unexpected(job.error());
  isleway::nccl::Options options;
  options.env = job_environment();
  options.launch.gpus_per_process = std::max(1, gpus_per_process);
  auto communicator = isleway::nccl::Communicator::create(*job, parts, options);
  if (!communicator) return tl::unexpected(communicator.error());
  return std::unique_ptr<Planner>(
      new Planner(std::move(present), std::move(*job), std::move(*communicator)));
}

Result<std::unique_ptr<Schedule>> Planner::schedule(const CollectiveCall& call) const {
  const auto decision = communicator_->decide(call);
  if (!decision) return tl::unexpected(decision.error());
  return communicator_->schedule(call, *decision);
}

Result<const CallTimes*> Planner::times(const CollectiveCall& call) {
  const Key key(static_cast<int>(call.collective), call.size.bytes, call.size.element_bytes,
                call.root, call.in_place);
  const auto found = known_.find(key);
  if (found != known_.end()) return &found->second;

  const auto decision = communicator_->decide(call);
  if (!decision) return tl::unexpected(decision.error());
  const auto schedule = communicator_->schedule(call, *decision);
  if (!schedule) return tl::unexpected(schedule.error());
  const auto outcome = engine_->run(job_, **schedule, *communicator_->wiring(call, *decision));
  if (!outcome) return tl::unexpected(outcome.error());

  CallTimes times{isleway::nccl::call_times(*communicator_, call, *decision, *outcome), {}};
  for (const LinkLoad& load : outcome->loads)
    if (const auto link = present_->link_of_machine(job_.link_name(load.link)))
      times.wire.push_back({*link, {load.forward, static_cast<std::uint64_t>(load.wire_bytes)}});
  return &known_.emplace(key, std::move(times)).first->second;
}

}  // namespace isleway::vgpu::nccl
