// What -q tells of a GPU's memory, use, heat, power and clocks.
#include <cmath>

#include "virtual/smi/common.hpp"
#include "virtual/smi/report.hpp"

namespace isleway::vgpu::smi {
namespace {

using nvml::Gpu;
using nvml::Monitor;

std::string mib(std::uint64_t bytes) { return fmt::format("{} MiB", mebibytes(bytes)); }
std::string celsius(int degrees) { return fmt::format("{} C", degrees); }
std::string watts(double value) { return fmt::format("{:.2f} W", value); }
std::string megahertz(int value) { return value > 0 ? fmt::format("{} MHz", value) : kNotKnown; }

Entry use_of(const char* label, const char* tag, const std::string& total, const std::string& used,
             const std::string& free) {
  return {label,
          tag,
          "",
          {{"Total", "total", total, {}}, {"Used", "used", used, {}}, {"Free", "free", free, {}}}};
}

Entry sessions(const char* label, const char* tag) {
  return {label,
          tag,
          "",
          {{"Active Sessions", "session_count", "0", {}},
           {"Average FPS", "average_fps", "0", {}},
           {"Average Latency", "average_latency", "0", {}}}};
}

Entry pair(const char* label, const char* tag, const char* current, const char* pending,
           const std::string& value) {
  return {label, tag, "", {{"Current", current, value, {}}, {"Pending", pending, value, {}}}};
}

Entry ecc_errors(const Gpu& gpu) {
  const auto count = [&](std::uint64_t value) {
    return gpu.board.ecc ? fmt::format("{}", value) : std::string(kNotKnown);
  };
  const std::string none = count(0);
  const std::vector<Entry> counts = {
      {"SRAM Correctable", "sram_correctable", none, {}},
      {"SRAM Uncorrectable Parity", "sram_uncorrectable_parity", none, {}},
      {"SRAM Uncorrectable SEC-DED", "sram_uncorrectable_secded", none, {}},
      {"DRAM Correctable", "dram_correctable", count(gpu.ecc_corrected), {}},
      {"DRAM Uncorrectable", "dram_uncorrectable", count(gpu.ecc_uncorrected), {}}};
  std::vector<Entry> aggregate = counts;
  const std::string no = gpu.board.ecc ? "No" : kNotKnown;
  aggregate.push_back({"SRAM Threshold Exceeded", "sram_threshold_exceeded", no, {}});
  return {"ECC Errors",
          "ecc_errors",
          "",
          {{"Volatile", "volatile", "", counts},
           {"Aggregate", "aggregate", "", aggregate},
           {"Aggregate Uncorrectable SRAM Sources",
            "aggregate_uncorrectable_sram_sources",
            "",
            {{"SRAM L2", "sram_l2", none, {}},
             {"SRAM SM", "sram_sm", none, {}},
             {"SRAM Microcontroller", "sram_microcontroller", none, {}},
             {"SRAM PCIE", "sram_pcie", none, {}},
             {"SRAM Other", "sram_other", none, {}}}},
           {"Channel Repair Pending", "channel_repair_pending", no, {}},
           {"TPC Repair Pending", "tpc_repair_pending", no, {}}}};
}

Entry retired_pages(const Gpu& gpu) {
  const bool has = gpu.board.ecc && !nvml::remaps_rows(gpu);
  const std::string count = has ? "0" : kNotKnown, pending = has ? "No" : kNotKnown;
  return {"Retired Pages",
          "retired_pages",
          "",
          {{"Single Bit ECC", "", count, {}},
           {"Double Bit ECC", "", count, {}},
           {"", "multiple_single_bit_retirement", "", {{"", "retired_count", count, {}}}},
           {"", "double_bit_retirement", "", {{"", "retired_count", count, {}}}},
           {"Pending Page Blacklist", "pending_blacklist", pending, {}}}};
}

Entry remapped_rows(const Gpu& gpu) {
  if (!nvml::remaps_rows(gpu)) return {"Remapped Rows", "remapped_rows", kNotKnown, {}};
  const auto banks = [](const char* label, const char* tag, int count) {
    return Entry{label, tag, fmt::format("{} bank(s)", count), {}};
  };
  const int most = nvml::remapper_banks(gpu);
  return {"Remapped Rows",
          "remapped_rows",
          "",
          {{"Correctable Error", "remapped_row_corr", "0", {}},
           {"Uncorrectable Error", "remapped_row_unc", "0", {}},
           {"Pending", "remapped_row_pending", gpu.ecc_uncorrected > 0 ? "Yes" : "No", {}},
           {"Remapping Failure Occurred", "remapped_row_failure", "No", {}},
           {"Bank Remap Availability Histogram",
            "row_remapper_histogram",
            "",
            {banks("Max", "row_remapper_histogram_max", most),
             banks("High", "row_remapper_histogram_high", 0),
             banks("Partial", "row_remapper_histogram_partial", 0),
             banks("Low", "row_remapper_histogram_low", 0),
             banks("None", "row_remapper_histogram_none", 0)}}}};
}

Entry temperature(const Gpu& gpu, int now) {
  using namespace nvml;
  Entry all{"Temperature", "temperature", "", {{"GPU Current Temp", "gpu_temp", celsius(now), {}}}};
  const std::string memory = gpu.sm() >= 70 ? celsius(now + kMemoryWarmer) : kNotKnown;
  if (has_margins(gpu)) {
    const std::vector<Entry> margins = {
        {"GPU T.Limit Temp", "gpu_temp_tlimit", celsius(kSlowdownCelsius - now), {}},
        {"GPU Shutdown T.Limit Temp",
         "gpu_temp_max_tlimit_threshold",
         celsius(kShutdownMargin),
         {}},
        {"GPU Slowdown T.Limit Temp",
         "gpu_temp_slow_tlimit_threshold",
         celsius(kSlowdownMargin),
         {}},
        {"GPU Max Operating T.Limit Temp",
         "gpu_temp_max_gpu_tlimit_threshold",
         celsius(kHeldMargin),
         {}},
        {"GPU Target Temperature", "gpu_target_temperature", kNotKnown, {}},
        {"Memory Current Temp", "memory_temp", memory, {}},
        {"Memory Max Operating T.Limit Temp",
         "gpu_temp_max_mem_tlimit_threshold",
         celsius(kMemoryMargin),
         {}}};
    all.below.insert(all.below.end(), margins.begin(), margins.end());
    return all;
  }
  const std::vector<Entry> degrees = {
      {"GPU T.Limit Temp", "gpu_temp_tlimit", kNotKnown, {}},
      {"GPU Shutdown Temp", "gpu_temp_max_threshold", celsius(kShutdownCelsius), {}},
      {"GPU Slowdown Temp", "gpu_temp_slow_threshold", celsius(kSlowdownCelsius), {}},
      {"GPU Max Operating Temp", "gpu_temp_max_gpu_threshold", celsius(kHeldCelsius), {}},
      {"GPU Target Temperature", "gpu_target_temperature", kNotKnown, {}},
      {"Memory Current Temp", "memory_temp", memory, {}},
      {"Memory Max Operating Temp", "gpu_temp_max_mem_threshold", celsius(kMemoryCelsius), {}}};
  all.below.insert(all.below.end(), degrees.begin(), degrees.end());
  return all;
}

Entry power(const Gpu& gpu, double now) {
  const std::string most = watts(gpu.board.power_watts);
  return {"GPU Power Readings",
          "gpu_power_readings",
          "",
          {{"", "power_state", "P0", {}},
           {"Average Power Draw", "average_power_draw", watts(now), {}},
           {"Instantaneous Power Draw", "instant_power_draw", watts(now), {}},
           {"Current Power Limit", "current_power_limit", most, {}},
           {"Requested Power Limit", "requested_power_limit", most, {}},
           {"Default Power Limit", "default_power_limit", most, {}},
           {"Min Power Limit", "min_power_limit", watts(gpu.board.least_power_watts), {}},
           {"Max Power Limit", "max_power_limit", most, {}}}};
}

Entry clocks(const char* label, const char* tag, int sm, int memory, bool all) {
  Entry entry{label, tag, "", {{"Graphics", "graphics_clock", megahertz(sm), {}}}};
  if (all) entry.below.push_back({"SM", "sm_clock", megahertz(sm), {}});
  entry.below.push_back({"Memory", "mem_clock", megahertz(memory), {}});
  if (all) entry.below.push_back({"Video", "video_clock", megahertz(nvml::video_clock(sm)), {}});
  return entry;
}

}  // namespace

std::vector<Entry> describe_memory(Monitor& monitor, const Gpu& gpu) {
  const nvml::Load load = monitor.load(gpu);
  const nvml::FrameBuffer memory = nvml::frame_buffer(gpu, load.memory_used);
  const bool confidential = monitor.node().confidential() != Confidential::off;
  const std::string busy = fmt::format("{:.0f} %", load.utilisation * 100);
  const std::string ecc = gpu.board.ecc ? "Enabled" : kNotKnown;
  constexpr std::uint64_t bar1_used = std::uint64_t{1} << 20;
  const std::uint64_t bar1 = nvml::bar1_bytes(gpu);
  const auto if_confidential = [&](std::uint64_t bytes) { return mib(confidential ? bytes : 0); };
  return {
      {"FB Memory Usage",
       "fb_memory_usage",
       "",
       {{"Total", "total", mib(memory.total), {}},
        {"Reserved", "reserved", mib(memory.reserved), {}},
        {"Used", "used", mib(memory.used), {}},
        {"Free", "free", mib(memory.free), {}}}},
      use_of("BAR1 Memory Usage", "bar1_memory_usage", mib(bar1), mib(bar1_used),
             mib(bar1 - bar1_used)),
      use_of("Conf Compute Protected Memory Usage", "cc_protected_memory_usage",
             if_confidential(memory.total), if_confidential(memory.used),
             if_confidential(memory.free)),
      {"Compute Mode", "compute_mode", "Default", {}},
      {"Utilization",
       "utilization",
       "",
       {{"GPU", "gpu_util", busy, {}},
        {"Memory", "memory_util", busy, {}},
        {"Encoder", "encoder_util", "0 %", {}},
        {"Decoder", "decoder_util", "0 %", {}},
        {"JPEG", "jpeg_util", "0 %", {}},
        {"OFA", "ofa_util", "0 %", {}}}},
      sessions("Encoder Stats", "encoder_stats"),
      sessions("FBC Stats", "fbc_stats"),
      pair("DRAM Encryption Mode", "dram_encryption_mode", "current_dram_encryption",
           "pending_dram_encryption", kNotKnown),
      pair("ECC Mode", "ecc_mode", "current_ecc", "pending_ecc", ecc),
      ecc_errors(gpu),
      retired_pages(gpu),
      remapped_rows(gpu),
      temperature(gpu, load.celsius),
      power(gpu, load.watts),
      clocks("Clocks", "clocks", load.sm_clock, load.memory_clock, true),
      clocks("Applications Clocks", "applications_clocks", gpu.board.sm_clock,
             gpu.board.memory_clock, false),
      clocks("Default Applications Clocks", "default_applications_clocks", gpu.board.sm_clock,
             gpu.board.memory_clock, false),
      {"Deferred Clocks", "deferred_clocks", "", {{"Memory", "mem_clock", kNotKnown, {}}}},
      clocks("Max Clocks", "max_clocks", gpu.board.sm_clock, gpu.board.memory_clock, true),
      {"Max Customer Boost Clocks",
       "max_customer_boost_clocks",
       "",
       {{"Graphics", "graphics_clock", megahertz(gpu.board.sm_clock), {}}}},
      {"Clock Policy",
       "clock_policy",
       "",
       {{"Auto Boost", "auto_boost", kNotKnown, {}},
        {"Auto Boost Default", "auto_boost_default", kNotKnown, {}}}},
  };
}

}  // namespace isleway::vgpu::smi
