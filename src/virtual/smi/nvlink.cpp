// nvidia-smi -L and nvidia-smi nvlink.
#include <algorithm>
#include <cmath>

#include "virtual/smi/common.hpp"

namespace isleway::vgpu::smi {
namespace {

using nvml::Gpu;
using nvml::Monitor;
using nvml::Node;
using nvml::Port;

std::string status(const Port& port, std::size_t link) {
  if (!port.up) return fmt::format("\t Link {}: <inactive>\n", link);
  // The tool cuts off behind the third digit.
  const double rate = nvml::link_megabytes(port) / 1000.0;
  return fmt::format("\t Link {}: {:.3f} GB/s\n", link, rate);
}

std::string capabilities(const Node& node, const Port& port, std::size_t link) {
  const DeviceKind peer = node.healthy().device(port.peer).kind;
  const bool to_cpu = peer == DeviceKind::cpu;
  const auto line = [&](const char* what, bool is) {
    return fmt::format("\t Link {}, {} supported: {}\n", link, what, is);
  };
  return line("P2P is", !to_cpu) + line("Access to system memory", true) +
         line("P2P atomics", !to_cpu) + line("System memory atomics", true) +
         line("SLI is", peer == DeviceKind::gpu) + line("Link is", true);
}

/// "15e-255" for none, as NVML packs it.
std::string rate_text(double rate) {
  if (!(rate > 0)) return "15e-255";
  const double exponent = std::ceil(-std::log10(rate));
  return fmt::format("{:.0f}e-{:.0f}", std::clamp(rate * std::pow(10, exponent), 1.0, 15.0),
                     exponent);
}

std::string errors(Monitor& monitor, const Gpu& gpu, const Port& port, std::size_t link) {
  std::string out;
  const auto line = [&](const char* what, auto value) {
    out += fmt::format("\t Link {}: {}: {}\n", link, what, value);
  };
  constexpr int blackwell = 100;
  if (gpu.sm() < blackwell) {
    line("Replay Errors", port.replay);
    line("Recovery Errors", port.recovery);
    line("CRC Errors", port.crc);
    return out + "\n";
  }
  const nvml::Traffic traffic = monitor.traffic(port);
  const std::uint64_t bytes = traffic.sent + traffic.received;
  const std::uint64_t failed = port.up ? 0 : 1;
  line("Tx packets", nvml::packets(traffic.sent));
  line("Tx bytes", nvml::with_headers(traffic.sent));
  line("Rx packets", nvml::packets(traffic.received));
  line("Rx bytes", nvml::with_headers(traffic.received));
  line("Malformed packet Errors", 0);
  line("Buffer overrun Errors", 0);
  line("Rx Errors", port.crc);
  line("Rx remote Errors", 0);
  line("Rx General Errors", 0);
  line("Local link integrity Errors", port.replay);
  line("Tx discards", 0);
  line("Link recovery successful events", port.recovery);
  line("Link recovery failed events", failed);
  line("Total link recovery events", port.recovery + failed);
  line("Effective Errors", port.crc);
  line("Effective BER", rate_text(nvml::effective_error_rate(port, bytes)));
  line("Symbol Errors", port.crc);
  line("Symbol BER", rate_text(nvml::effective_error_rate(port, bytes)));
  return out + "\n";
}

std::string remote(const Node& node, const Port& port, std::size_t link) {
  return fmt::format("\t Link {}: Remote Device {}: Link {}\n", link,
                     nvml::peer_address(node, port).text(), port.peer_port);
}

std::string throughput(Monitor& monitor, const Port& port, std::size_t link) {
  const nvml::Traffic traffic = monitor.traffic(port);
  return fmt::format("\t Link {0}: Data Tx: {1} KiB\n\t Link {0}: Data Rx: {2} KiB\n", link,
                     traffic.sent >> 10, traffic.received >> 10);
}

std::string view_of(Monitor& monitor, const Gpu& gpu, std::size_t link, NvlinkView view) {
  const Port& port = gpu.ports[link];
  switch (view) {
    case NvlinkView::status: return status(port, link);
    case NvlinkView::capabilities: return capabilities(monitor.node(), port, link);
    case NvlinkView::errors: return errors(monitor, gpu, port, link);
    case NvlinkView::remote: return remote(monitor.node(), port, link);
    case NvlinkView::throughput: return throughput(monitor, port, link);
  }
  return {};
}

std::string links(Monitor& monitor, const Gpu& gpu, NvlinkView view, int only) {
  if (gpu.mig) return "Nvlink queries are not supported for Devices in MIG mode\n\n";
  if (gpu.ports.empty()) return "Device does not have or support Nvlink\n\n";
  if (gpu.links_up() == 0)
    return "NVML: Unable to retrieve NVLink information as all links are inActive\n";
  std::string out;
  for (std::size_t link = 0; link < gpu.ports.size(); ++link)
    if (only < 0 || link == static_cast<std::size_t>(only))
      out += view_of(monitor, gpu, link, view);
  return out;
}

}  // namespace

std::string list(Monitor& monitor, const Selection& selection) {
  std::string out;
  for (const Gpu& gpu : monitor.node().gpus())
    if (is_chosen(selection, gpu)) out += gpu.lost ? lost(gpu) : heading(gpu);
  return out;
}

std::string nvlink(Monitor& monitor, NvlinkView view, const Selection& selection, int link) {
  std::string out;
  for (const Gpu& gpu : monitor.node().gpus())
    if (is_chosen(selection, gpu))
      out += gpu.lost ? lost(gpu) : heading(gpu) + links(monitor, gpu, view, link);
  return out;
}

}  // namespace isleway::vgpu::smi
