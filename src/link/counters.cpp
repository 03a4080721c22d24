#include "isleway/link/counters.hpp"

#include <array>
#include <cmath>

namespace isleway::link {
namespace {

constexpr std::array<CounterName, 13> kNames = {{
    {&Counters::data_bytes, "throughput_data", "NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX",
     "DCGM_FI_PROF_NVLINK_TX_BYTES"},
    {&Counters::raw_bytes, "throughput_raw", "NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_TX",
     "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"},
    {&Counters::packets, "packets", "NVML_FI_DEV_NVLINK_COUNT_XMIT_PACKETS",
     "DCGM_FI_DEV_NVLINK_COUNT_TX_PACKETS"},
    {&Counters::crc_flit_errors, "crc_flit_errors", "NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
     "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL"},
    {&Counters::crc_data_errors, "crc_data_errors", "NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL",
     "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL"},
    {&Counters::replays, "replay_errors", "NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL",
     "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL"},
    {&Counters::recoveries, "recovery_errors", "NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL",
     "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL"},
    {&Counters::symbol_errors, "symbol_errors", "NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS",
     "DCGM_FI_DEV_NVLINK_COUNT_RX_SYMBOL_ERRORS"},
    {&Counters::effective_errors, "effective_errors", "NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS",
     "DCGM_FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS"},
    {&Counters::undetected_errors, "undetected_errors", nullptr, nullptr},
    {&Counters::ecn_marks, "ecn_marks", nullptr, nullptr},
    {&Counters::pauses, "pauses", nullptr, nullptr},
    {&Counters::wait_ps, "wait_ps", nullptr, nullptr},
}};

constexpr std::uint64_t kExponentMask = 0xff, kMantissaMask = 0xf;
constexpr int kMantissaShift = 8;

}  // namespace

Counters& Counters::operator+=(const Counters& other) {
  for (const CounterName& name : kNames) this->*name.value += other.*name.value;
  received_bits += other.received_bits;
  return *this;
}

std::span<const CounterName> counter_names() { return kNames; }

std::uint64_t nvml_ber(double rate) {
  if (!(rate > 0)) return kExponentMask;  // 0 x 10^-255
  int exponent = static_cast<int>(std::ceil(-std::log10(rate)));
  double mantissa = std::round(rate * std::pow(10.0, exponent));
  if (mantissa >= 10) {  // rounded up into the next power
    mantissa = 1;
    --exponent;
  }
  if (exponent < 0) return 1ULL << kMantissaShift;
  if (exponent > static_cast<int>(kExponentMask)) return kExponentMask;
  return static_cast<std::uint64_t>(mantissa) << kMantissaShift |
         static_cast<std::uint64_t>(exponent);
}

double from_nvml_ber(std::uint64_t value) {
  const auto mantissa = static_cast<double>((value >> kMantissaShift) & kMantissaMask);
  return mantissa * std::pow(10.0, -static_cast<double>(value & kExponentMask));
}

}  // namespace isleway::link
