// Prometheus text: dcgm-exporter's metrics and those of the like.
#include <map>
#include <set>

#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

struct Known {
  std::string_view part;  ///< of the metric's name; DCGM 4 has renamed many
  std::string_view signal;
};
/// The first that fits counts. Names: DCGM's dcgm_fields.h.
constexpr Known kKnown[] = {
    {"NVLINK_CRC_FLIT_ERROR", "nvlink.crc_errors"},
    {"NVLINK_CRC_DATA_ERROR", "nvlink.crc_data_errors"},
    {"NVLINK_REPLAY_ERROR", "nvlink.replay_errors"},
    {"NVLINK_RECOVERY_ERROR", "nvlink.recovery_errors"},
    {"NVLINK_RECOVERY_FAILED", "nvlink.recoveries_failed"},
    {"NVLINK_RECOVERY_SUCCESSFUL", "nvlink.recoveries"},
    {"NVLINK_INTEGRITY_ERROR", "nvlink.integrity_errors"},
    {"NVLINK_RX_SYMBOL_ERR", "nvlink.symbol_errors"},
    {"NVLINK_COUNT_RX_SYMBOL_ERRORS", "nvlink.symbol_errors"},
    {"SYMBOL_BER_RATIO", "nvlink.symbol_ber"},
    {"EFFECTIVE_BER_RATIO", "nvlink.effective_ber"},
    {"NVLINK_COUNT_EFFECTIVE_ERRORS", "nvlink.effective_errors"},
    {"P2P_NVLINK_STATUS", "nvlink.p2p_bitmap"},
    {"PCIE_REPLAY_COUNTER", "pcie.replays"},
    {"PCIE_LINK_GEN", "pcie.generation"},
    {"PCIE_MAX_LINK_GEN", "pcie.generation_max"},
    {"PCIE_LINK_WIDTH", "pcie.width"},
    {"PCIE_MAX_LINK_WIDTH", "pcie.width_max"},
    {"UNCORRECTABLE_REMAPPED_ROWS", "rows.remapped_uncorrected"},
    {"CORRECTABLE_REMAPPED_ROWS", "rows.remapped_corrected"},
    {"ROW_REMAP_FAILURE", "rows.failed"},
    {"ROW_REMAP_PENDING", "rows.pending"},
    {"XID_ERRORS", "xid.code"},
    {"FABRIC_CLIQUE_ID", "fabric.clique"},
    {"DEV_GPU_TEMP", "gpu.temperature_C"},
    {"DEV_POWER_USAGE", "gpu.power_W"},
    {"DEV_SM_CLOCK", "gpu.clock_sm_MHz"},
    {"DEV_MEM_CLOCK", "gpu.clock_memory_MHz"},
    {"DEV_GPU_UTIL", "gpu.utilization_percent"},
    {"DEV_ECC_DBE_VOL_TOTAL", "ecc.uncorrected"},
    {"DEV_ECC_DBE_AGG_TOTAL", "ecc.uncorrected_aggregate"},
    {"DEV_ECC_SBE_VOL_TOTAL", "ecc.corrected"},
};

/// NVML's and DCGM's numbers of fabric manager's states.
std::string_view fabric_state(double value) {
  static constexpr std::string_view names[] = {"N/A", "Not Started", "In Progress", "Completed"};
  return value >= 0 && value < 4 ? names[static_cast<std::size_t>(value)] : std::string_view();
}

struct Sample {
  std::string_view name, value;
  std::map<std::string_view, std::string_view> labels;
};

/// `name{a="b",c="d"} 12 [time]`
std::optional<Sample> parse_sample(std::string_view line) {
  line = trim(line);
  const std::size_t end = line.find_first_of("{ \t");
  if (end == std::string_view::npos || end == 0 || line[0] == '#') return std::nullopt;
  Sample sample{line.substr(0, end), {}, {}};
  std::string_view rest = line.substr(end);
  if (rest.starts_with("{")) {
    rest.remove_prefix(1);
    while (!rest.empty() && rest[0] != '}') {
      const std::size_t equals = rest.find("=\"");
      if (equals == std::string_view::npos) return std::nullopt;
      const std::string_view key = trim(rest.substr(0, equals));
      std::size_t close = equals + 2;
      while (close < rest.size() && (rest[close] != '"' || rest[close - 1] == '\\')) ++close;
      if (close == rest.size()) return std::nullopt;
      sample.labels[key] = rest.substr(equals + 2, close - equals - 2);
      rest.remove_prefix(close + 1);
      if (rest.starts_with(",")) rest.remove_prefix(1);
      rest = trim(rest);
    }
    if (rest.empty()) return std::nullopt;
    rest.remove_prefix(1);
  }
  sample.value = first_word(rest);
  if (!parse_double(sample.value)) return std::nullopt;
  return sample;
}

class MetricsReader {
 public:
  explicit MetricsReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      const auto sample = parse_sample(sink_.line(i));
      if (!sample || !is_metric(sample->name)) continue;
      sink_.at(i, host_of(*sample));
      take(*sample);
    }
  }

 private:
  /// Names of metrics have an underscore or capitals; other lines may end in numbers too.
  static bool is_metric(std::string_view name) {
    return name.size() > 4 && contains(name, "_") &&
           name.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:") ==
               std::string_view::npos;
  }

  static std::string_view label(const Sample& sample, std::string_view key) {
    const auto found = sample.labels.find(key);
    return found == sample.labels.end() ? std::string_view() : found->second;
  }

  static std::string_view host_of(const Sample& sample) {
    for (const char* key : {"Hostname", "hostname", "node", "kubernetes_node"})
      if (const auto host = label(sample, key); !host.empty() && host != "XXX") return host;
    return {};
  }

  void take(const Sample& sample) {
    const std::string_view index = label(sample, "gpu");
    const std::string gpu = index.empty() ? std::string() : gpu_name(index);
    const std::string_view link = label(sample, "nvlink");
    const std::string subject = link.empty() || gpu.empty() ? gpu : gpu_link_name(gpu, link);
    describe(sample, gpu);
    const double value = parse_double(sample.value).value_or(0);
    sink_.number("metric", subject, value, sample.name);
    if (contains(sample.name, "FABRIC_MANAGER_STATUS"))
      return sink_.text("fabric.state", gpu, fabric_state(value));
    if (contains(sample.name, "FABRIC_CLUSTER_UUID"))
      return sink_.text("fabric.cluster_uuid", gpu,
                        label(sample, "DCGM_FI_DEV_FABRIC_CLUSTER_UUID"));
    for (const Known& known : kKnown) {
      if (!contains(sample.name, known.part)) continue;
      if (known.signal != "xid.code") sink_.number(known.signal, subject, value);
      else if (value > 0) sink_.number("xid.code", address_of(sample, gpu), value);
      return;
    }
  }

  static std::string address_of(const Sample& sample, const std::string& gpu) {
    const std::string_view address = label(sample, "pci_bus_id");
    return address.empty() ? gpu : bus_address(address);
  }

  /// Labels repeat what the GPU is: once is enough.
  void describe(const Sample& sample, const std::string& gpu) {
    if (gpu.empty() || !described_.insert({gpu, host_of(sample)}).second) return;
    for (const char* key : {"modelName", "model_name"})
      sink_.text("gpu.name", gpu, label(sample, key));
    if (const auto uuid = label(sample, "UUID"); uuid.starts_with("GPU-"))
      sink_.text("gpu.uuid", gpu, uuid);
    if (const auto address = label(sample, "pci_bus_id"); !address.empty())
      sink_.text("gpu.bus_id", gpu, bus_address(address));
    sink_.text("driver.version", "", label(sample, "DCGM_FI_DRIVER_VERSION"));
  }

  SignalSink& sink_;
  std::set<std::pair<std::string, std::string_view>> described_;
};

int recognise(const TextIndex& text) {
  if (text.has("DCGM_FI_")) return 90;
  return text.has("# TYPE ") ? 60 : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  MetricsReader(sink).read();
}

}  // namespace

extern const SignalReader metrics_signals;
const SignalReader metrics_signals = {"metrics", "Prometheus metrics, dcgm-exporter", recognise,
                                      read};

}  // namespace isleway::formats
