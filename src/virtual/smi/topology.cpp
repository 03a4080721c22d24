// nvidia-smi topo.
#include "isleway/formats.hpp"
#include "virtual/smi/common.hpp"

namespace isleway::vgpu::smi {
namespace {

constexpr std::string_view kPeerLegend =
    "\nLegend:\n\n"
    "  X    = Self\n"
    "  OK   = Status Ok\n"
    "  CNS  = Chipset not supported\n"
    "  GNS  = GPU not supported\n"
    "  TNS  = Topology not supported\n"
    "  NS   = Not supported\n"
    "  U    = Unknown\n";

const char* cell(nvml::PeerStatus status) {
  switch (status) {
    case nvml::PeerStatus::ok: return "OK";
    case nvml::PeerStatus::chipset: return "CNS";
    case nvml::PeerStatus::gpu: return "GNS";
    case nvml::PeerStatus::topology: return "TNS";
    case nvml::PeerStatus::disabled: return "DR";
    case nvml::PeerStatus::not_supported: return "NS";
    case nvml::PeerStatus::unknown: break;
  }
  return "U";
}

}  // namespace

Result<std::string> topology(nvml::Monitor& monitor) {
  const nvml::Node& node = monitor.node();
  const nvml::Gpu& first = node.gpus().front();
  formats::WriteOptions options;
  options.unit = first.ref.unit;
  options.host = first.device->host;
  const formats::Writer* writer = formats::find_writer("topo-m");
  if (writer == nullptr) return fail("topo -m cannot be written");
  return writer->write(node.now(), options);
}

std::string peers(nvml::Monitor& monitor, nvml::PeerCapability capability) {
  const nvml::Node& node = monitor.node();
  std::string out = " ";
  for (const nvml::Gpu& gpu : node.gpus()) out += fmt::format("\tGPU{}", gpu.index);
  out += "\t\n";
  for (const nvml::Gpu& from : node.gpus()) {
    out += fmt::format(" GPU{}", from.index);
    for (const nvml::Gpu& to : node.gpus())
      out += fmt::format(
          "\t{}", from.index == to.index ? "X" : cell(node.peer_status(from, to, capability)));
    out += "\t\n";
  }
  return out + std::string(kPeerLegend);
}

}  // namespace isleway::vgpu::smi
