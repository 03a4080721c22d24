// nvidia-smi without arguments.
#include <cmath>
#include <ctime>

#include "virtual/smi/common.hpp"

namespace isleway::vgpu::smi {
namespace {

using nvml::Gpu;
using nvml::Monitor;

constexpr std::string_view kLine =
    "+-----------------------------------------+------------------------+----------------------+\n";
constexpr std::string_view kFullLine =
    "+-----------------------------------------------------------------------------------------+\n";

std::string gpu_rows(Monitor& monitor, const Gpu& gpu) {
  if (gpu.lost)
    return fmt::format(
        "| {0:>3}  {1:<27}  {2:>4}  |  {3:<16} {2:>4} | {2:>20} |\n"
        "|{2:>4}  {2:>4}   {2:>4}  {2:>13} / {2:>5} | {2:>10} / {2:>9} | {2:>7} {2:>12} |\n"
        "|                                         |                        | {2:>20} |\n",
        gpu.index, gpu.name.substr(0, 27), "ERR!", gpu.pci.text());
  const nvml::Load load = monitor.load(gpu);
  const nvml::FrameBuffer memory = nvml::frame_buffer(gpu, load.memory_used);
  const std::string fan =
      gpu.board.fan ? fmt::format("{:.0f}%", 30 + load.utilisation * 50) : "N/A";
  const std::string ecc = gpu.board.ecc ? fmt::format("{}", gpu.ecc_uncorrected) : "N/A";
  const char* mig = !nvml::has_mig(gpu) ? "N/A" : gpu.mig ? "Enabled" : "Disabled";
  return fmt::format(
      "| {:>3}  {:<27}  {:>4}  |   {:<16} {:>3} | {:>20} |\n"
      "| {:<3}  {:>3}C    P0  {:>14} / {:>5} | {:>10} / {:>9} | {:>7} {:>12} |\n"
      "|                                         |                        | {:>20} |\n",
      gpu.index, gpu.name.substr(0, 27), "On", gpu.pci.text(), "Off", ecc, fan, load.celsius,
      fmt::format("{:.0f}W", load.watts), fmt::format("{}W", gpu.board.power_watts),
      fmt::format("{}MiB", mebibytes(memory.used)), fmt::format("{}MiB", mebibytes(memory.total)),
      fmt::format("{:.0f}%", load.utilisation * 100), "Default", mig);
}

std::string process_rows(Monitor& monitor, const Selection& selection) {
  std::string out;
  for (const Gpu& gpu : monitor.node().gpus()) {
    if (!is_chosen(selection, gpu)) continue;
    const std::vector<MemoryUse> uses = monitor.memory_uses(gpu);
    for (const MemoryUse& use : uses)
      out += fmt::format("| {:>4}   N/A  N/A {:>16}      C   {:<33}{:>10} |\n", gpu.index, use.pid,
                         "[Not Found]", fmt::format("{}MiB", use.bytes >> 20));
  }
  return out.empty()
             ? "|  No running processes found                                               "
               "              |\n"
             : out;
}

}  // namespace

std::string time_text(Time now) {
  const auto seconds = static_cast<std::time_t>(now.seconds());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  // Not ctime's, which depends on the place that the program runs in.
  return {text, std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &parts)};
}

std::string table(Monitor& monitor, const Selection& selection) {
  std::string out = time_text(monitor.world().now()) + "\n";
  out += kFullLine;
  out += fmt::format(
      "| NVIDIA-SMI {0:<22} Driver Version: {0:<14} CUDA Version: {1:<9}|\n", nvml::kDriverVersion,
      fmt::format("{}.{}", nvml::kCudaVersion / 1000, nvml::kCudaVersion % 1000 / 10));
  out += kLine;
  out +=
      "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC "
      "|\n"
      "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. "
      "|\n"
      "|                                         |                        |               MIG M. "
      "|\n"
      "|=========================================+========================+======================|"
      "\n";
  for (const Gpu& gpu : monitor.node().gpus()) {
    if (!is_chosen(selection, gpu)) continue;
    out += gpu_rows(monitor, gpu);
    out += kLine;
  }
  out += fmt::format("{:91}\n", "");
  out += kFullLine;
  out +=
      "| Processes:                                                                              "
      "|\n"
      "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory "
      "|\n"
      "|        ID   ID                                                               Usage      "
      "|\n"
      "|=========================================================================================|"
      "\n";
  out += process_rows(monitor, selection);
  return out + std::string(kFullLine);
}

}  // namespace isleway::vgpu::smi
