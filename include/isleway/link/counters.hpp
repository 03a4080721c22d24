// What a port counts, under the names that operators know.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace isleway::link {

/// Of one direction of a link, or of a bundle of them.
struct Counters {
  std::uint64_t data_bytes = 0;         ///< payload sent
  std::uint64_t raw_bytes = 0;          ///< with headers, sent again included
  std::uint64_t packets = 0;            ///< sent, each once
  std::uint64_t crc_flit_errors = 0;    ///< packets dropped for a wrong header
  std::uint64_t crc_data_errors = 0;    ///< packets dropped for wrong data
  std::uint64_t replays = 0;            ///< times that the sender went back
  std::uint64_t recoveries = 0;         ///< times that the link was trained anew
  std::uint64_t symbol_errors = 0;      ///< before correction
  std::uint64_t effective_errors = 0;   ///< left after forward error correction
  std::uint64_t undetected_errors = 0;  ///< that the checksum did not find
  std::uint64_t ecn_marks = 0;          ///< packets marked for congestion (CE)
  std::uint64_t pauses = 0;             ///< PFC: times that the sender was stopped
  std::uint64_t wait_ps = 0;            ///< that packets waited for credits or a pause to end
  std::uint64_t received_bits = 0;

  Counters& operator+=(const Counters& other);
  friend bool operator==(const Counters&, const Counters&) = default;
  /// Errors for each bit received; 0 before the first bit.
  double symbol_ber() const { return ratio(symbol_errors); }
  double effective_ber() const { return ratio(effective_errors); }

 private:
  double ratio(std::uint64_t errors) const {
    return received_bits == 0 ? 0
                              : static_cast<double>(errors) / static_cast<double>(received_bits);
  }
};

/// How a counter is called elsewhere. Names are those of NVML's field values
/// (docs.nvidia.com/deploy/nvml-api) and of DCGM's fields; null where there is none.
struct CounterName {
  std::uint64_t Counters::*value = nullptr;
  const char* key;  ///< this program's JSON
  const char* nvml;
  const char* dcgm;
};
std::span<const CounterName> counter_names();

/// A bit error rate as NVML's fields hold it: exponent in bits 0 to 7, mantissa in 8 to 11, for
/// mantissa x 10^-exponent.
std::uint64_t nvml_ber(double rate);
double from_nvml_ber(std::uint64_t value);

}  // namespace isleway::link
