// Errors that programs and tools print in place of results, in any log or report.
#include <algorithm>
#include <array>
#include <cstring>

#include "formats/nccl_log_tree.hpp"
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

/// CUDA's names for what machines cause; numbers: CUDA's driver_types.h.
struct CudaError {
  std::string_view text;
  double code;
};
constexpr std::array<CudaError, 14> kCudaErrors = {{{"system not yet initialized", 802},
                                                    {"cudaErrorSystemNotReady", 802},
                                                    {"CUDA_ERROR_SYSTEM_NOT_READY", 802},
                                                    {"CUDA out of memory", 2},
                                                    {"CUDA_ERROR_NOT_SUPPORTED", 801},
                                                    {"CUDA_ERROR_ILLEGAL_STATE", 401},
                                                    {"system has unsupported display driver", 803},
                                                    {"forward compatibility was attempted", 804},
                                                    {"cudaErrorInsufficientDriver", 35},
                                                    {"driver version is insufficient", 35},
                                                    {"peer access is not supported", 217},
                                                    {"an illegal memory access", 700},
                                                    {"uncorrectable ECC error", 214},
                                                    {"uncorrectable NVLink error", 220}}};

/// "Cuda failure 1 'invalid argument'", "cudaGetDeviceProperties returned 802",
/// "cudaGetDeviceCount(). ... Error 802: system not yet initialized"
std::optional<double> printed_code(std::string_view line) {
  for (const std::string_view mark :
       {"Cuda failure ", "CUDA failure ", "CUDA error ", "cuda error "})
    if (const auto code = leading_number(after(line, mark))) return code;
  if (contains(line, "cuda") || contains(line, "CUDA"))
    for (const std::string_view mark : {" returned ", " Error "})
      if (const auto code = leading_number(after(line, mark))) return code;
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
    {"nvidia-container-cli: ", "container"},
    {"is not recognized as an internal or external command", "shell"},
    {"Please run 'nvidia-smi -h'", "nvidia-smi"},
    {"could not select device driver", "container"},
    {"The NVIDIA Driver was not detected", "container"},
};

/// "Unable to determine the device handle for GPU 0000:C2:00.0: GPU is lost.  Reboot ...", with
/// or without a blank or a number behind "GPU".
bool take_lost_gpu(SignalSink& sink, std::string_view line) {
  const std::string_view rest = after(line, "device handle for GPU");
  const std::string_view address = find_bus_address(rest);
  if (address.empty()) return false;
  sink.text("gpu.error", bus_address(address), trim(after(after(rest, address), ":")));
  return true;
}

void take_tool(SignalSink& sink, std::string_view line) {
  if (take_lost_gpu(sink, line)) return;
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

/// What a collective that never ended says of itself, by PyTorch: "[Rank 3] Watchdog caught
/// collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, ...)".
void take_timeout(SignalSink& sink, std::string_view line) {
  const std::string_view rest = after(line, "collective operation timeout: ");
  if (rest.empty()) return;
  const auto rank = parse_int(before(after(line, "[Rank "), "]"));
  const std::string_view kind = before(before(after(rest, "OpType="), ","), ")");
  sink.text("collective.timeout", rank ? "rank" + std::to_string(*rank) : std::string(),
            kind.empty() ? rest : kind);
}

/// NVIDIA's containers: "The SHMEM allocation limit is set to the default of 64MB."
void take_container_note(SignalSink& sink, std::string_view line) {
  sink.measure("shm.size_MB", "", after(line, "SHMEM allocation limit is set to the default of "));
}

/// Every line that states something here has one of these.
constexpr std::string_view kMarks[] = {"rror",
                                       "fail",
                                       "Fail",
                                       " returned ",
                                       "CUDA_ERROR",
                                       "CUDA out of memory",
                                       "not yet initialized",
                                       "not found",
                                       "not supported",
                                       "denied",
                                       "No devices were found",
                                       "ibwarn",
                                       "ibpanic",
                                       "Unable to",
                                       "unable to",
                                       "No space left",
                                       "illegal memory",
                                       "uncorrectable",
                                       "unsupported display driver",
                                       "is insufficient",
                                       "forward compatibility",
                                       "communicate with",
                                       "Insufficient Permissions",
                                       "SHMEM allocation limit",
                                       "nvidia-container-cli",
                                       "could not select device driver",
                                       "not detected",
                                       "is not recognized as",
                                       "Please run 'nvidia-smi -h'",
                                       "mismatch",
                                       "NVML library version",
                                       "collective operation timeout"};

int recognise(const TextIndex& text) {
  for (const std::string_view mark : kMarks)
    if (text.has(mark)) return 20;
  return 0;
}

void take_line(SignalSink& sink, std::string_view line) {
  take_cuda(sink, line);
  take_shared_memory(sink, line);
  take_tool(sink, line);
  take_verbs(sink, line);
  take_timeout(sink, line);
  take_container_note(sink, line);
  if (contains(line, "Driver/library version mismatch"))
    sink.text("driver.library_version", "", "mismatch");
  if (contains(line, "NVML library version: "))
    sink.text("driver.library_version", "", after(line, "version: "));
}

/// string_view::find would stop at every occurrence of a mark's first letter.
std::size_t find_from(std::string_view text, std::string_view mark, std::size_t from) {
  const void* found = ::memmem(text.data() + from, text.size() - from, mark.data(), mark.size());
  return found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data())
               : std::string_view::npos;
}

/// Which lines hold one of the marks: found in the whole text, since most have none.
std::vector<std::size_t> marked_lines(std::string_view text, const SignalSink& sink) {
  const TextIndex index(text);
  std::vector<std::size_t> marked;
  for (const std::string_view mark : kMarks) {
    if (!index.has(mark)) continue;
    auto line = sink.lines().begin();
    for (std::size_t at = find_from(text, mark, 0); at != std::string_view::npos;) {
      line = std::upper_bound(line, sink.lines().end(), text.data() + at,
                              [](const char* place, auto& of) { return place < of.data(); });
      marked.push_back(static_cast<std::size_t>(line - sink.lines().begin()) - 1);
      if (line == sink.lines().end()) break;
      at = find_from(text, mark, static_cast<std::size_t>(line->data() - text.data()));
    }
  }
  std::sort(marked.begin(), marked.end());
  marked.erase(std::unique(marked.begin(), marked.end()), marked.end());
  return marked;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  std::size_t denied = 0;
  for (const std::size_t i : marked_lines(text, sink)) {
    const std::string_view line = trim(sink.line(i));
    if (line.size() > 2000) continue;
    if (contains(line, "<access denied>") && ++denied > 1) continue;  // once says it
    sink.at(i, contains(line, "NCCL ") ? log_host(line) : std::string_view());
    take_line(sink, line);
  }
}

}  // namespace

extern const SignalReader errors_signals;
const SignalReader errors_signals = {"errors", "error messages", recognise, read};

}  // namespace isleway::formats
