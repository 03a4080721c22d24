// NVML: GPM, which tells what happened between two samples.
#include <algorithm>
#include <vector>

#include "isleway/virtual/abi/nvml/functions.hpp"
#include "virtual/nvml/exports/library.hpp"

using namespace isleway;
using namespace isleway::vgpu;
using namespace isleway::vgpu::nvml;

struct nvmlGpmSample_st {
  bool taken = false;
  int gpu = 0;
  Time at, busy;
  Traffic pcie;
  std::vector<Traffic> links;
};

namespace {

enum Metric : unsigned {
  kGraphicsUtilisation = 1,
  kSmUtilisation = 2,
  kDramUtilisation = 10,
  kPcieSent = 20,
  kPcieReceived = 21,
  kLinksReceived = 60,
  kLinksSent = 61,
  kFirstLink = 62,  ///< received and sent of links 0 to 17
  kLastLink = 97,
};
constexpr double kMebibyte = 1 << 20;

bool has_gpm(const Gpu& gpu) { return gpu.sm() >= 90; }

void take(Library& library, const Gpu& gpu, nvmlGpmSample_st& sample) {
  Monitor& monitor = library.monitor();
  sample = {true, gpu.index, library.now(), monitor.busy(gpu), monitor.pcie_traffic(gpu), {}};
  for (const Port& port : gpu.ports) sample.links.push_back(monitor.traffic(port));
}

std::uint64_t grown(std::uint64_t from, std::uint64_t to) { return to > from ? to - from : 0; }

/// Bytes of one link, or of all (link < 0), between the samples.
std::uint64_t link_bytes(const nvmlGpmSample_st& from, const nvmlGpmSample_st& to, int link,
                         std::uint64_t Traffic::*way) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < std::min(from.links.size(), to.links.size()); ++i)
    if (link < 0 || i == static_cast<std::size_t>(link))
      bytes += grown(from.links[i].*way, to.links[i].*way);
  return bytes;
}

nvmlReturn_t measure(const nvmlGpmSample_st& from, const nvmlGpmSample_st& to, unsigned metric,
                     double& out) {
  const double seconds = (to.at - from.at).seconds();
  const auto rate = [&](std::uint64_t bytes) {
    return seconds > 0 ? static_cast<double>(bytes) / kMebibyte / seconds : 0;
  };
  switch (metric) {
    case kGraphicsUtilisation:
    case kSmUtilisation:
    case kDramUtilisation:
      out = seconds > 0 ? std::clamp((to.busy - from.busy).seconds() / seconds, 0.0, 1.0) * 100 : 0;
      return NVML_SUCCESS;
    case kPcieSent: out = rate(grown(from.pcie.sent, to.pcie.sent)); return NVML_SUCCESS;
    case kPcieReceived:
      out = rate(grown(from.pcie.received, to.pcie.received));
      return NVML_SUCCESS;
    case kLinksReceived:
      out = rate(link_bytes(from, to, -1, &Traffic::received));
      return NVML_SUCCESS;
    case kLinksSent: out = rate(link_bytes(from, to, -1, &Traffic::sent)); return NVML_SUCCESS;
    default: break;
  }
  if (metric < kFirstLink || metric > kLastLink) return NVML_ERROR_NOT_SUPPORTED;
  const auto link = static_cast<int>((metric - kFirstLink) / 2);
  if (static_cast<std::size_t>(link) >= to.links.size()) return NVML_ERROR_NOT_SUPPORTED;
  const bool received = (metric - kFirstLink) % 2 == 0;
  out = rate(link_bytes(from, to, link, received ? &Traffic::received : &Traffic::sent));
  return NVML_SUCCESS;
}

}  // namespace

NVML_API nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (out->version != 1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    out->isSupportedDevice = has_gpm(gpu) ? 1 : 0;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlGpmSampleAlloc(nvmlGpmSample_t* out) {
  return ask([&](Library&) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *out = new nvmlGpmSample_st;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlGpmSampleFree(nvmlGpmSample_t sample) {
  return ask([&](Library&) {
    if (sample == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    delete sample;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (sample == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (!has_gpm(gpu)) return NVML_ERROR_NOT_SUPPORTED;
    take(library, gpu, *sample);
    return NVML_SUCCESS;
  });
}
NVML_API nvmlGpmMetricsGet(nvmlGpmMetricsGet_t* out) {
  return ask([&](Library&) {
    if (out == nullptr || out->sample1 == nullptr || out->sample2 == nullptr ||
        out->numMetrics > std::size(out->metrics))
      return NVML_ERROR_INVALID_ARGUMENT;
    if (out->version != 1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    const nvmlGpmSample_st &from = *out->sample1, &to = *out->sample2;
    if (!from.taken || !to.taken || from.gpu != to.gpu) return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < out->numMetrics; ++i) {
      nvmlGpmMetric_t& metric = out->metrics[i];
      metric.nvmlReturn = measure(from, to, metric.metricId, metric.value);
    }
    return NVML_SUCCESS;
  });
}
NVML_API nvmlGpmQueryIfStreamingEnabled(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu&) { return 0; });
}
