// NVML's field values: ECC, power, PCIe, C2C; and the function that asks for all groups.
#include "virtual/nvml/exports/fields.hpp"

#include <cmath>

#include "isleway/virtual/abi/nvml/functions.hpp"

using namespace isleway;
using namespace isleway::vgpu::nvml;

namespace isleway::vgpu::nvml {
namespace {

FieldAnswer ecc_field(const FieldQuestion& ask) {
  const Gpu& gpu = ask.gpu;
  if (!gpu.board.ecc) return refused(NVML_ERROR_NOT_SUPPORTED);
  switch (ask.id) {
    case NVML_FI_DEV_ECC_CURRENT: return number(1);
    case NVML_FI_DEV_ECC_PENDING: return number(ask.library.settings(gpu).ecc_pending);
    case NVML_FI_DEV_ECC_SBE_VOL_TOTAL:
    case NVML_FI_DEV_ECC_SBE_AGG_TOTAL:
    case NVML_FI_DEV_ECC_SBE_VOL_DEV:
    case NVML_FI_DEV_ECC_SBE_AGG_DEV: return counter(gpu.ecc_corrected);
    case NVML_FI_DEV_ECC_DBE_VOL_TOTAL:
    case NVML_FI_DEV_ECC_DBE_AGG_TOTAL:
    case NVML_FI_DEV_ECC_DBE_VOL_DEV:
    case NVML_FI_DEV_ECC_DBE_AGG_DEV: return counter(gpu.ecc_uncorrected);
    default: return counter(0);
  }
}

FieldAnswer remapped_field(const FieldQuestion& ask) {
  if (!remaps_rows(ask.gpu)) return refused(NVML_ERROR_NOT_SUPPORTED);
  return number(ask.id == NVML_FI_DEV_REMAPPED_PENDING && ask.gpu.ecc_uncorrected > 0 ? 1 : 0);
}

FieldAnswer power_field(const FieldQuestion& ask) {
  const auto milliwatts = [](double watts) { return number(std::llround(watts * 1000)); };
  const Board& board = ask.gpu.board;
  const unsigned set = ask.library.settings(ask.gpu).power_limit_mw;
  const FieldAnswer limit = set > 0 ? number(set) : milliwatts(board.power_watts);
  switch (ask.id) {
    case NVML_FI_DEV_POWER_MIN_LIMIT: return milliwatts(board.least_power_watts);
    case NVML_FI_DEV_POWER_MAX_LIMIT:
    case NVML_FI_DEV_POWER_DEFAULT_LIMIT: return milliwatts(board.power_watts);
    case NVML_FI_DEV_POWER_CURRENT_LIMIT:
    case NVML_FI_DEV_POWER_REQUESTED_LIMIT: return limit;
    default: return milliwatts(ask.library.monitor().load(ask.gpu).watts);
  }
}

FieldAnswer c2c_field(const FieldQuestion& ask) {
  const Node::C2c c2c = ask.library.node().c2c(ask.gpu);
  if (ask.id == NVML_FI_DEV_C2C_LINK_COUNT)
    return ask.gpu.sm() < 90 ? refused(NVML_ERROR_NOT_SUPPORTED) : number(c2c.links);
  if (ask.scope != kAllLinks && ask.scope >= static_cast<unsigned>(c2c.links))
    return refused(c2c.links == 0 ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT);
  if (ask.id == NVML_FI_DEV_C2C_LINK_GET_STATUS) return number(1);
  if (ask.id == NVML_FI_DEV_C2C_LINK_GET_MAX_BW) return number(std::lround(c2c.rate.GBs() * 1000));
  return counter(0);  // errors; the power state 0 is full power
}

FieldAnswer margin_field(const FieldQuestion& ask) {
  if (!has_margins(ask.gpu)) return refused(NVML_ERROR_NOT_SUPPORTED);
  constexpr int margins[] = {kShutdownMargin, kSlowdownMargin, kMemoryMargin, kHeldMargin};
  return {NVML_SUCCESS, NVML_VALUE_TYPE_SIGNED_INT,
          margins[ask.id - NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT]};
}

/// What an operator is told to do: a reset for memory that is to be remapped, a reset of all
/// GPUs that share a fabric for one that the fabric does not take in.
FieldAnswer recovery_action(const Gpu& gpu) {
  enum { none = 0, reset = 1, drain_and_reset = 4, recover_imex = 5 };
  if (!gpu.fabric.resources) return number(recover_imex);
  if (gpu.ecc_uncorrected > 0) return number(drain_and_reset);
  return number(gpu.last_xid != 0 ? reset : none);
}

bool between(unsigned id, unsigned first, unsigned last) { return id >= first && id <= last; }

}  // namespace

std::optional<FieldAnswer> device_field(const FieldQuestion& ask) {
  if (between(ask.id, NVML_FI_DEV_ECC_CURRENT, NVML_FI_DEV_ECC_DBE_AGG_CBU)) return ecc_field(ask);
  if (between(ask.id, NVML_FI_DEV_RETIRED_SBE, NVML_FI_DEV_RETIRED_PENDING) ||
      between(ask.id, NVML_FI_DEV_RETIRED_PENDING_SBE, NVML_FI_DEV_RETIRED_PENDING_DBE))
    return ask.gpu.board.ecc && ask.gpu.sm() < 80 ? counter(0) : refused(NVML_ERROR_NOT_SUPPORTED);
  if (between(ask.id, NVML_FI_DEV_REMAPPED_COR, NVML_FI_DEV_REMAPPED_FAILURE))
    return remapped_field(ask);
  if (between(ask.id, NVML_FI_DEV_PERF_POLICY_POWER, NVML_FI_DEV_PERF_POLICY_TOTAL_BASE_CLOCKS) ||
      between(ask.id, NVML_FI_DEV_PCIE_REPLAY_COUNTER, NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER) ||
      between(ask.id, NVML_FI_DEV_PCIE_COUNT_CORRECTABLE_ERRORS,
              NVML_FI_DEV_PCIE_COUNT_LANE_ERROR) ||
      ask.id == NVML_FI_DEV_PCIE_L0_TO_RECOVERY_COUNTER)
    return counter(0);
  if (between(ask.id, NVML_FI_DEV_POWER_AVERAGE, NVML_FI_DEV_POWER_CURRENT_LIMIT) ||
      ask.id == NVML_FI_DEV_POWER_REQUESTED_LIMIT)
    return power_field(ask);
  if (between(ask.id, NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT,
              NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT))
    return margin_field(ask);
  if (between(ask.id, NVML_FI_DEV_C2C_LINK_COUNT, NVML_FI_DEV_C2C_LINK_GET_MAX_BW) ||
      between(ask.id, NVML_FI_DEV_C2C_LINK_ERROR_INTR, NVML_FI_DEV_C2C_LINK_POWER_STATE))
    return c2c_field(ask);
  switch (ask.id) {
    case NVML_FI_DEV_MEMORY_TEMP:
      return number(ask.library.monitor().load(ask.gpu).celsius + kMemoryWarmer);
    case NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION:
    case NVML_FI_DEV_ENERGY:
      return counter(static_cast<std::uint64_t>(
          std::llround(ask.library.monitor().load(ask.gpu).joules * 1000)));
    case NVML_FI_DEV_PCIE_COUNT_TX_BYTES:
      return counter(ask.library.monitor().pcie_traffic(ask.gpu).sent);
    case NVML_FI_DEV_PCIE_COUNT_RX_BYTES:
      return counter(ask.library.monitor().pcie_traffic(ask.gpu).received);
    case NVML_FI_DEV_IS_RESETLESS_MIG_SUPPORTED: return number(ask.gpu.sm() >= 90 ? 1 : 0);
    case NVML_FI_DEV_IS_MIG_MODE_INDEPENDENT_MIG_QUERY_CAPABLE: return number(1);
    case NVML_FI_DEV_RESET_STATUS:
    case NVML_FI_DEV_DRAIN_AND_RESET_STATUS: return number(ask.gpu.ecc_uncorrected > 0 ? 1 : 0);
    case NVML_FI_DEV_GET_GPU_RECOVERY_ACTION: return recovery_action(ask.gpu);
    default: return std::nullopt;
  }
}

namespace {

FieldAnswer field(const FieldQuestion& question) {
  if (question.id == 0 || question.id >= NVML_FI_MAX) return refused(NVML_ERROR_INVALID_ARGUMENT);
  for (const auto group : {device_field, nvlink_field, nvlink5_field})
    if (const auto answer = group(question)) return *answer;
  return refused(NVML_ERROR_NOT_SUPPORTED);
}

nvmlValue_t typed(const FieldAnswer& answer) {
  nvmlValue_t value{};
  switch (answer.type) {
    case NVML_VALUE_TYPE_UNSIGNED_INT: value.uiVal = static_cast<unsigned>(answer.value); break;
    case NVML_VALUE_TYPE_SIGNED_INT: value.siVal = static_cast<int>(answer.value); break;
    default: value.ullVal = static_cast<unsigned long long>(answer.value); break;
  }
  return value;
}

}  // namespace
}  // namespace isleway::vgpu::nvml

NVML_API nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (count <= 0 || values == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < count; ++i) {
      nvmlFieldValue_t& value = values[i];
      const FieldAnswer answer = field({library, gpu, value.fieldId, value.scopeId});
      value.timestamp = library.now().ps() / 1'000'000;
      value.latencyUsec = 0;
      value.valueType = answer.type;
      value.nvmlReturn = answer.status;
      value.value = typed(answer);
    }
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceClearFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  return ask(device, [&](Library&, const Gpu&) {
    if (count <= 0 || values == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    // Counters belong to the run, at which other processes look as well.
    for (int i = 0; i < count; ++i) values[i].nvmlReturn = NVML_ERROR_NO_PERMISSION;
    return NVML_SUCCESS;
  });
}
