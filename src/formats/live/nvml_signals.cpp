#include "formats/live/nvml_signals.hpp"

#include <algorithm>
#include <array>

#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

constexpr unsigned kMostGpus = 1024, kMostLinks = 36;
constexpr int kGpuIsLost = 15, kResetRequired = 16;

/// NVML_NVLINK_ERROR_*, NVML_P2P_STATUS_*, NVML_GPU_FABRIC_STATE_*: by their numbers.
constexpr std::array<const char*, 5> kLinkErrors = {"nvlink.replay_errors",
                                                    "nvlink.recovery_errors", "nvlink.crc_errors",
                                                    "nvlink.crc_data_errors", "nvlink.ecc_errors"};
constexpr std::array<const char*, 7> kP2pStates = {"OK", "CNS", "GNS", "DR", "DR", "NS", "U"};
constexpr std::array<const char*, 4> kFabricStates = {"N/A", "Not Started", "In Progress",
                                                      "Completed"};

class NvmlReader {
 public:
  NvmlReader(const NvmlFunctions& nvml, Signals& signals, Notices& notices)
      : nvml_(nvml), sink_("", {"NVML"}, signals, notices) {}

  void read() {
    std::array<char, 96> buffer{};
    if (nvml_.driver_version && ok(nvml_.driver_version(buffer.data(), buffer.size())))
      sink_.text("driver.version", "", text(buffer));
    unsigned count = 0;
    if (!ok(nvml_.count(&count)))
      return sink_.incomplete("NVML does not say how many GPUs there are");
    count = std::min(count, kMostGpus);
    sink_.number("gpu.count", "", count);
    std::vector<NvmlFunctions::Device> devices(count, nullptr);
    for (unsigned i = 0; i < count; ++i) {
      const int state = nvml_.device(i, &devices[i]);
      const std::string gpu = gpu_name(std::to_string(i));
      if (state == kGpuIsLost) sink_.text("gpu.error", gpu, "GPU is lost");
      if (state == kResetRequired) sink_.text("gpu.error", gpu, "GPU requires reset");
      if (ok(state)) read_gpu(devices[i], gpu);
      else devices[i] = nullptr;
    }
    read_p2p(devices);
  }

 private:
  static bool ok(int state) { return state == NvmlFunctions::kSuccess; }
  template <std::size_t N>
  static std::string text(std::array<char, N>& buffer) {
    buffer.back() = '\0';
    return buffer.data();
  }

  void read_gpu(NvmlFunctions::Device device, const std::string& gpu) {
    std::array<char, 96> buffer{};
    if (nvml_.name && ok(nvml_.name(device, buffer.data(), buffer.size())))
      sink_.text("gpu.name", gpu, text(buffer));
    if (nvml_.uuid && ok(nvml_.uuid(device, buffer.data(), buffer.size())))
      sink_.text("gpu.uuid", gpu, text(buffer));
    NvmlFunctions::PciInfo pci{};
    if (nvml_.pci_info && ok(nvml_.pci_info(device, &pci))) {
      pci.bus_id[sizeof pci.bus_id - 1] = '\0';
      sink_.text("gpu.bus_id", gpu, bus_address(pci.bus_id));
    }
    number("pcie.generation", nvml_.pcie_generation, device, gpu);
    number("pcie.width", nvml_.pcie_width, device, gpu);
    number("pcie.generation_max", nvml_.pcie_generation_max, device, gpu);
    number("pcie.width_max", nvml_.pcie_width_max, device, gpu);
    number("pcie.replays", nvml_.pcie_replays, device, gpu);
    unsigned mig = 0, pending = 0;
    if (nvml_.mig_mode && ok(nvml_.mig_mode(device, &mig, &pending)))
      sink_.text("mig.mode", gpu, mig ? "Enabled" : "Disabled");
    read_links(device, gpu);
    read_fabric(device, gpu);
  }

  void number(const char* signal, int (*function)(NvmlFunctions::Device, unsigned*),
              NvmlFunctions::Device device, const std::string& gpu) {
    unsigned value = 0;
    if (function && ok(function(device, &value))) sink_.number(signal, gpu, value);
  }

  void read_links(NvmlFunctions::Device device, const std::string& gpu) {
    if (!nvml_.nvlink_state) return;
    int listed = 0, active = 0;
    for (unsigned link = 0; link < kMostLinks; ++link) {
      unsigned state = 0;
      if (!ok(nvml_.nvlink_state(device, link, &state))) continue;
      const std::string name = gpu_link_name(gpu, std::to_string(link));
      sink_.text("nvlink.state", name, state ? "active" : "inactive");
      ++listed;
      active += state ? 1 : 0;
      for (unsigned counter = 0; counter < kLinkErrors.size() && nvml_.nvlink_errors; ++counter) {
        unsigned long long errors = 0;
        if (ok(nvml_.nvlink_errors(device, link, counter, &errors)))
          sink_.number(kLinkErrors[counter], name, static_cast<double>(errors));
      }
    }
    if (listed == 0) return;
    sink_.number("nvlink.active", gpu, active);
    sink_.number("nvlink.listed", gpu, listed);
  }

  void read_fabric(NvmlFunctions::Device device, const std::string& gpu) {
    NvmlFunctions::FabricInfo info{};
    if (!nvml_.fabric_info || !ok(nvml_.fabric_info(device, &info))) return;
    if (info.state >= kFabricStates.size()) return;
    sink_.text("fabric.state", gpu, kFabricStates[info.state]);
    if (info.state == 0) return;
    sink_.text("fabric.status", gpu,
               ok(info.status) ? std::string("Success") : "error " + std::to_string(info.status));
    sink_.text("fabric.clique", gpu, std::to_string(info.clique_id));
    std::string uuid;
    for (std::size_t i = 0; i < sizeof info.cluster_uuid; ++i) {
      static constexpr std::string_view digits = "0123456789abcdef";
      if (i == 4 || i == 6 || i == 8 || i == 10) uuid += '-';
      uuid += digits[info.cluster_uuid[i] >> 4];
      uuid += digits[info.cluster_uuid[i] & 15];
    }
    sink_.text("fabric.cluster_uuid", gpu, uuid);
  }

  void read_p2p(const std::vector<NvmlFunctions::Device>& devices) {
    if (!nvml_.p2p_status) return;
    for (std::size_t i = 0; i < devices.size(); ++i)
      for (std::size_t j = 0; j < devices.size(); ++j) {
        unsigned state = 0;
        if (i == j || !devices[i] || !devices[j] ||
            !ok(nvml_.p2p_status(devices[i], devices[j], 0, &state)) || state >= kP2pStates.size())
          continue;
        sink_.text("p2p.status", gpu_name(std::to_string(i)), kP2pStates[state],
                   gpu_name(std::to_string(j)));
      }
  }

  const NvmlFunctions& nvml_;
  SignalSink sink_;
};

}  // namespace

void read_nvml(const NvmlFunctions& nvml, Signals& signals, Notices& notices) {
  if (const int state = nvml.init(); state != NvmlFunctions::kSuccess) {
    notices.skipped({"NVML"}, "NVML does not start (error " + std::to_string(state) +
                                  "): the driver does not run, or its library is another version");
    return;
  }
  NvmlReader(nvml, signals, notices).read();
  nvml.shutdown();
}

}  // namespace isleway::formats
