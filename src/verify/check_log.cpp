// What NCCL's log says, held against the machine that it ran on.
#include <fmt/format.h>

#include "isleway/verify/compare.hpp"

namespace isleway::verify {
namespace {

std::string quantity(int count) { return count == 1 ? "one line" : fmt::format("{} lines", count); }

bool has_rdma(const Fabric& fabric) {
  for (const auto& unit : fabric.templates())
    for (const DeviceIndex nic : unit->nics())
      if (unit->device(nic).nic().rate > Rate()) return true;
  return false;
}

bool has_nvlink(const Fabric& fabric) { return fabric.island_count() < fabric.gpu_count(); }

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::good: return "good";
    case Verdict::unknown: return "unknown";
    case Verdict::warning: return "warning";
    case Verdict::critical: return "critical";
  }
  return "";
}

Result<std::vector<Finding>> check_log(const Setup& setup, const CompareContext& context) {
  std::vector<Finding> findings;
  const formats::NcclInfo& log = context.log;
  if (log.empty()) return findings;
  const auto communicator = nccl::Communicator::create(setup.fabric, context.parts, setup.options);
  if (!communicator) return tl::unexpected(communicator.error());
  const auto add = [&](Verdict severity, std::string text, int line) {
    findings.push_back({severity, std::move(text), line});
  };

  const bool several_nodes = (*communicator)->nodes() > 1;
  for (const auto& transport : log.transports) {
    const std::string how = fmt::format("{} ({})", transport.text, quantity(transport.count));
    if (transport.text.starts_with("NET/Socket") && has_rdma(setup.fabric))
      add(Verdict::warning, "TCP sockets, though the machine has NICs for RDMA: " + how,
          transport.line);
    else if (transport.text == "SHM" && has_nvlink(setup.fabric))
      add(Verdict::warning, "the host's memory between GPUs, though they have NVLink: " + how,
          transport.line);
    else if (transport.text.starts_with("NET/IB") && !transport.text.ends_with("GDRDMA"))
      add(Verdict::warning, "RDMA without GPUDirect: " + how, transport.line);
    else add(Verdict::good, "transport " + how, transport.line);
  }
  for (const auto& remark : log.remarks) {
    const bool nvls = remark.text.starts_with("NVLS");
    const bool ib = remark.text.starts_with("NET/IB") || remark.text.starts_with("Failed to open");
    const bool matters = nvls ? (*communicator)->nvls() != nullptr : ib ? several_nodes : true;
    add(matters ? Verdict::warning : Verdict::good, remark.text, remark.line);
  }
  const int channels = (*communicator)->collective_channels();
  if (log.ranks == (*communicator)->ranks() && log.collective_channels > 0 &&
      log.collective_channels != channels)
    add(log.collective_channels < channels ? Verdict::warning : Verdict::good,
        fmt::format("{} channels for collectives, where {} are expected of this machine",
                    log.collective_channels, channels),
        0);
  for (const auto& setting : log.settings)
    add(Verdict::good, "set by the environment: " + setting.text, setting.line);
  for (const auto& warning : log.warnings)
    add(Verdict::warning, "NCCL warns: " + warning.text, warning.line);
  return findings;
}

}  // namespace isleway::verify
