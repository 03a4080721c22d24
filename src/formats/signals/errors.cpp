// Errors that programs and tools print in place of results, in any log or report.
#include <array>

#include "formats/nccl_log_tree.hpp"
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

/// CUDA's names for what machines cause; numbers: CUDA's driver_types.h.
struct CudaError {
  std::string_view text;
  double code;
};
constexpr std::array<CudaError, 12> kCudaErrors = {{{"system not yet initialized", 802},
                                                    {"cudaErrorSystemNotReady", 802},
                                                    {"CUDA_ERROR_SYSTEM_NOT_READY", 802},
                                                    {"CUDA_ERROR_NOT_SUPPORTED", 801},
                                                    {"CUDA_ERROR_ILLEGAL_STATE", 401},
                                                    {"system has unsupported display driver", 803},
                                                    {"cudaErrorInsufficientDriver", 35},
                                                    {"driver version is insufficient", 35},
                                                    {"peer access is not supported", 217},
                                                    {"an illegal memory access", 700},
                                                    {"uncorrectable ECC error", 214},
                                                    {"uncorrectable NVLink error", 220}}};

/// "Cuda failure 1 'invalid argument'", "cudaGetDeviceProperties returned 802", "error 802"
std::optional<double> printed_code(std::string_view line) {
  for (const std::string_view mark :
       {"Cuda failure ", "CUDA failure ", "CUDA error ", "cuda error "})
    if (const auto code = leading_number(after(line, mark))) return code;
  if (contains(line, "cuda"))
    if (const auto code = leading_number(after(line, " returned "))) return code;
  return std::nullopt;
}

void take_cuda(SignalSink& sink, std::string_view line) {
  const std::string_view quoted = between(line, "'", "'");
  if (const auto code = printed_code(line); code && *code > 0 && *code < 1000)
    return sink.number("cuda.error", "", *code, quoted);
  for (const CudaError& error : kCudaErrors)
    if (contains(line, error.text)) return sink.number("cuda.error", "", error.code, error.text);
}

void take_shared_memory(SignalSink& sink, std::string_view line) {
  const bool shared = contains(line, "posix_fallocate") || contains(line, "/dev/shm") ||
                      contains(line, "shared memory segment") || contains(line, "nccl-");
  const bool fails = contains(line, "failed") || contains(line, "No space left") ||
                     contains(line, "Error while creating");
  const std::string_view warning = after(line, "NCCL WARN");
  if (shared && fails) sink.text("shm.error", "", warning.empty() ? line : warning);
}

void take_verbs(SignalSink& sink, std::string_view line) {
  for (const char* mark : {"ibv_modify_qp", "ibv_reg_mr", "ibv_create_qp", "ibv_open_device",
                           "Got completion from peer"})
    if (contains(line, mark) && (contains(line, "fail") || contains(line, "rror")))
      return sink.text("ib.error", "", line);
}

struct ToolError {
  std::string_view mark, tool;
};
constexpr ToolError kToolErrors[] = {
    {"NVIDIA-SMI has failed because", "nvidia-smi"},
    {"No devices were found", "nvidia-smi"},
    {"Failed to initialize NVML", "nvidia-smi"},
    {"Unable to determine the device handle for", "nvidia-smi"},
    {"couldn't communicate with the NVIDIA driver", "nvidia-smi"},
    {"Insufficient Permissions", "nvidia-smi"},
    {"Unable to connect to host engine", "dcgmi"},
    {"unable to establish a connection to the specified host", "dcgmi"},
    {"Failed to open libibverbs", "NCCL"},
    {"ibpanic:", "infiniband-diags"},
    {"ibwarn:", "infiniband-diags"},
    {"<access denied>", "lspci"},
};

void take_tool(SignalSink& sink, std::string_view line) {
  for (const ToolError& error : kToolErrors)
    if (contains(line, error.mark)) return sink.text("tool.error", error.tool, line);
  for (const std::string_view mark : {": command not found", ": not found"})
    if (line.ends_with(mark)) {
      std::string_view tool = before(line, mark);
      if (const std::size_t colon = tool.rfind(": "); colon != std::string_view::npos)
        tool = tool.substr(colon + 2);
      if (!contains(trim(tool), " ")) sink.text("tool.error", trim(tool), "command not found");
      return;
    }
}

int recognise(const TextIndex& text) {
  for (const char* mark :
       {"rror", "ailed", "failure", " returned ", "not yet initialized", "not found", "denied",
        "No devices were found", "ibwarn", "ibpanic", "Unable to", "unable to", "No space left",
        "NOT_SUPPORTED", "illegal memory", "peer access is not", "Insufficient Permissions"})
    if (text.has(mark)) return 20;
  return 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  std::size_t denied = 0;
  for (std::size_t i = 0; i < sink.size(); ++i) {
    const std::string_view line = trim(sink.line(i));
    if (line.empty() || line.size() > 2000) continue;
    if (contains(line, "<access denied>") && ++denied > 1) continue;  // once says it
    sink.at(i, contains(line, "NCCL ") ? log_host(line) : std::string_view());
    take_cuda(sink, line);
    take_shared_memory(sink, line);
    take_tool(sink, line);
    take_verbs(sink, line);
    if (contains(line, "Driver/library version mismatch"))
      sink.text("driver.library_version", "", "mismatch");
    if (contains(line, "NVML library version: "))
      sink.text("driver.library_version", "", after(line, "version: "));
  }
}

}  // namespace

extern const SignalReader errors_signals;
const SignalReader errors_signals = {"errors", "error messages", recognise, read};

}  // namespace isleway::formats
