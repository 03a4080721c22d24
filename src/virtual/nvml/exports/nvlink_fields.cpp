// NVML's field values of NVLink.
#include <algorithm>
#include <cmath>

#include "virtual/nvml/exports/fields.hpp"
#include "virtual/nvml/exports/nvlink.hpp"

namespace isleway::vgpu::nvml {
namespace {

using Of = std::uint64_t (*)(const FieldQuestion&, const Port&);

std::uint64_t crc(const FieldQuestion&, const Port& port) { return port.crc; }
std::uint64_t replays(const FieldQuestion&, const Port& port) { return port.replay; }
std::uint64_t recoveries(const FieldQuestion&, const Port& port) { return port.recovery; }
std::uint64_t none(const FieldQuestion&, const Port&) { return 0; }
std::uint64_t sent(const FieldQuestion& ask, const Port& port) {
  return ask.library.monitor().traffic(port).sent;
}
std::uint64_t received(const FieldQuestion& ask, const Port& port) {
  return ask.library.monitor().traffic(port).received;
}
std::uint64_t both_ways(const FieldQuestion& ask, const Port& port) {
  return sent(ask, port) + received(ask, port);
}

std::uint64_t sum(const FieldQuestion& ask, Of of) {
  std::uint64_t all = 0;
  for (const Port& port : ask.gpu.ports) all += of(ask, port);
  return all;
}

/// Of the link that `scope` names, or of all together.
FieldAnswer by_scope(const FieldQuestion& ask, Of of) {
  if (ask.gpu.ports.empty()) return refused(NVML_ERROR_NOT_SUPPORTED);
  if (ask.scope == kAllLinks) return counter(sum(ask, of));
  const Port* port = nullptr;
  const nvmlReturn_t found = port_of(ask.gpu, ask.scope, &port);
  return found == NVML_SUCCESS ? counter(of(ask, *port)) : refused(found);
}

FieldAnswer of_link(const FieldQuestion& ask, unsigned link, Of of) {
  return by_scope({ask.library, ask.gpu, ask.id, link}, of);
}

/// The oldest counters have an id for each link: six links and their total, then six more.
std::optional<FieldAnswer> family_field(const FieldQuestion& ask) {
  constexpr Of families[] = {crc, none, replays, recoveries, both_ways, none};
  constexpr unsigned first_links = 6, with_total = first_links + 1;
  if (ask.id >= NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L0 &&
      ask.id <= NVML_FI_DEV_NVLINK_BANDWIDTH_C1_TOTAL) {
    const unsigned at = ask.id - NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L0;
    const unsigned link = at % with_total;
    return of_link(ask, link == first_links ? kAllLinks : link, families[at / with_total]);
  }
  if (ask.id >= NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L6 &&
      ask.id <= NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L11) {
    const unsigned at = ask.id - NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L6;
    return of_link(ask, first_links + at % first_links, families[at / first_links]);
  }
  if (ask.id >= NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L0 &&
      ask.id <= NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_TOTAL)
    return of_link(ask, kAllLinks, none);
  return std::nullopt;
}

FieldAnswer speed(const FieldQuestion& ask, unsigned link) {
  const Port* port = nullptr;
  const nvmlReturn_t found = port_of(ask.gpu, link, &port);
  if (found != NVML_SUCCESS) return refused(found);
  return number(port->up ? link_megabytes(*port) : 0);
}

/// A property of one link.
template <class Value>
FieldAnswer of_port(const FieldQuestion& ask, Value value) {
  const Port* port = nullptr;
  const nvmlReturn_t found = port_of(ask.gpu, ask.scope, &port);
  return found == NVML_SUCCESS ? number(value(*port)) : refused(found);
}

FieldAnswer kibibytes(const FieldAnswer& bytes) {
  return bytes.status == NVML_SUCCESS ? counter(static_cast<std::uint64_t>(bytes.value) >> 10)
                                      : bytes;
}

std::uint64_t sent_raw(const FieldQuestion& ask, const Port& port) {
  return with_headers(sent(ask, port));
}
std::uint64_t received_raw(const FieldQuestion& ask, const Port& port) {
  return with_headers(received(ask, port));
}
std::uint64_t sent_packets(const FieldQuestion& ask, const Port& port) {
  return packets(sent(ask, port));
}
std::uint64_t received_packets(const FieldQuestion& ask, const Port& port) {
  return packets(received(ask, port));
}
std::uint64_t failed_recoveries(const FieldQuestion&, const Port& port) { return port.up ? 0 : 1; }
std::uint64_t all_recoveries(const FieldQuestion& ask, const Port& port) {
  return port.recovery + failed_recoveries(ask, port);
}

/// NVML packs a rate as mantissa (bits 8 to 11) and negative exponent of ten (bits 0 to 7); a
/// link without errors shows 15e-255.
std::int64_t packed_rate(double rate) {
  constexpr std::int64_t no_errors = 15 << 8 | 255;
  if (!(rate > 0)) return no_errors;
  auto exponent = static_cast<std::int64_t>(std::ceil(-std::log10(rate)));
  exponent = std::clamp<std::int64_t>(exponent, 0, 254);
  const auto mantissa = std::llround(rate * std::pow(10.0, static_cast<double>(exponent)));
  return std::clamp<std::int64_t>(mantissa, 1, 15) << 8 | exponent;
}

}  // namespace

std::optional<FieldAnswer> nvlink_field(const FieldQuestion& ask) {
  if (const auto answer = family_field(ask)) return answer;
  if (ask.id >= NVML_FI_DEV_NVLINK_SPEED_MBPS_L0 && ask.id <= NVML_FI_DEV_NVLINK_SPEED_MBPS_L5)
    return speed(ask, ask.id - NVML_FI_DEV_NVLINK_SPEED_MBPS_L0);
  if (ask.id >= NVML_FI_DEV_NVLINK_SPEED_MBPS_L6 && ask.id <= NVML_FI_DEV_NVLINK_SPEED_MBPS_L11)
    return speed(ask, 6 + ask.id - NVML_FI_DEV_NVLINK_SPEED_MBPS_L6);
  switch (ask.id) {
    case NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON: {
      const auto up = std::find_if(ask.gpu.ports.begin(), ask.gpu.ports.end(),
                                   [](const Port& port) { return port.up; });
      return up == ask.gpu.ports.end() ? refused(NVML_ERROR_NOT_SUPPORTED)
                                       : number(link_megabytes(*up));
    }
    case NVML_FI_DEV_NVLINK_LINK_COUNT:
      return number(static_cast<std::int64_t>(ask.gpu.ports.size()));
    case NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX: return kibibytes(by_scope(ask, sent));
    case NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX: return kibibytes(by_scope(ask, received));
    case NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_TX: return kibibytes(by_scope(ask, sent_raw));
    case NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX: return kibibytes(by_scope(ask, received_raw));
    case NVML_FI_DEV_NVLINK_REMOTE_NVLINK_ID:
      return of_port(ask, [](const Port& port) { return port.peer_port; });
    case NVML_FI_DEV_NVSWITCH_CONNECTED_LINK_COUNT:
      return number(
          std::count_if(ask.gpu.ports.begin(), ask.gpu.ports.end(), [&](const Port& port) {
            return port.up &&
                   ask.library.node().healthy().device(port.peer).kind == DeviceKind::nvswitch;
          }));
    case NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY: return by_scope(ask, replays);
    case NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY: return by_scope(ask, recoveries);
    case NVML_FI_DEV_NVLINK_ERROR_DL_CRC: return by_scope(ask, crc);
    case NVML_FI_DEV_NVLINK_GET_SPEED: return speed(ask, ask.scope);
    case NVML_FI_DEV_NVLINK_GET_STATE:
      return of_port(ask, [](const Port& port) { return port.up ? 1 : 0; });
    case NVML_FI_DEV_NVLINK_GET_VERSION:
      return of_port(ask, [&](const Port& port) { return nvlink_version(ask.gpu, port); });
    case NVML_FI_DEV_NVLINK_GET_POWER_STATE:
      return of_port(ask, [](const Port&) { return 0; });  // full speed
    default: return std::nullopt;
  }
}

std::optional<FieldAnswer> nvlink5_field(const FieldQuestion& ask) {
  if (ask.id < NVML_FI_DEV_NVLINK_COUNT_XMIT_PACKETS ||
      ask.id > NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_15)
    return std::nullopt;
  constexpr int blackwell = 100;
  if (ask.gpu.sm() < blackwell || ask.gpu.ports.empty()) return refused(NVML_ERROR_NOT_SUPPORTED);
  if (ask.id >= NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_0) {
    // Code words by how many of their symbols were wrong: all without an error, but for those
    // that recovery had to repeat.
    if (ask.id == NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_0) return by_scope(ask, received_packets);
    return by_scope(ask, ask.id == NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_15 ? crc : none);
  }
  switch (ask.id) {
    case NVML_FI_DEV_NVLINK_COUNT_XMIT_PACKETS: return by_scope(ask, sent_packets);
    case NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES: return by_scope(ask, sent_raw);
    case NVML_FI_DEV_NVLINK_COUNT_RCV_PACKETS: return by_scope(ask, received_packets);
    case NVML_FI_DEV_NVLINK_COUNT_RCV_BYTES: return by_scope(ask, received_raw);
    case NVML_FI_DEV_NVLINK_COUNT_VL15_DROPPED:
    case NVML_FI_DEV_NVLINK_COUNT_MALFORMED_PACKET_ERRORS:
    case NVML_FI_DEV_NVLINK_COUNT_BUFFER_OVERRUN_ERRORS:
    case NVML_FI_DEV_NVLINK_COUNT_RCV_REMOTE_ERRORS:
    case NVML_FI_DEV_NVLINK_COUNT_RCV_GENERAL_ERRORS:
    case NVML_FI_DEV_NVLINK_COUNT_XMIT_DISCARDS: return by_scope(ask, none);
    case NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS:
    case NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS:
    case NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS: return by_scope(ask, crc);
    case NVML_FI_DEV_NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS: return by_scope(ask, replays);
    case NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_SUCCESSFUL_EVENTS: return by_scope(ask, recoveries);
    case NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS:
      return by_scope(ask, failed_recoveries);
    case NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS: return by_scope(ask, all_recoveries);
    case NVML_FI_DEV_NVLINK_COUNT_RAW_BER_LANE0:
    case NVML_FI_DEV_NVLINK_COUNT_RAW_BER_LANE1:
    case NVML_FI_DEV_NVLINK_COUNT_RAW_BER:
      return of_port(ask, [&](const Port& port) {
        return packed_rate(raw_error_rate(port, both_ways(ask, port)));
      });
    case NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_BER:
    case NVML_FI_DEV_NVLINK_COUNT_SYMBOL_BER:
      return of_port(ask, [&](const Port& port) {
        return packed_rate(effective_error_rate(port, both_ways(ask, port)));
      });
    default: return refused(NVML_ERROR_NOT_SUPPORTED);
  }
}

}  // namespace isleway::vgpu::nvml
