// Variables of the environment, wherever they are set: env, export, mpirun -x, docker -e,
// Dockerfiles, nccl.conf, Kubernetes' name/value pairs.
#include <array>

#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

/// What GPU jobs on several nodes are steered by.
constexpr std::array<std::string_view, 16> kStarts = {
    "NCCL_", "RCCL_", "TORCH_NCCL_", "CUDA_", "NVIDIA_", "UCX_",        "OMPI_MCA_", "SLURM_",
    "FI_",   "HSA_",  "NVSHMEM_",    "PMIX_", "ROCR_",   "HIP_VISIBLE", "GLOO_",     "OMP_"};

bool is_name_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c >= 'a' && c <= 'z');
}

bool is_steering(std::string_view name) {
  for (const std::string_view start : kStarts)
    if (name.starts_with(start) && name.size() > start.size()) return true;
  return false;
}

/// Up to the blank, or to the closing quote.
std::string_view value_at(std::string_view text) {
  constexpr std::size_t kMostText = 1000;  // no blank may come for megabytes
  text = text.substr(0, kMostText);
  if (!text.empty() && (text[0] == '"' || text[0] == '\''))
    return before(text.substr(1), text.substr(0, 1));
  return text.substr(0, text.find_first_of(" \t;\"'`)\\"));
}

/// Says each `NAME=value` of a line.
void take_assignments(SignalSink& sink, std::string_view line) {
  for (std::size_t equals = line.find('='); equals != std::string_view::npos;
       equals = line.find('=', equals + 1)) {
    std::size_t start = equals;
    while (start > 0 && is_name_character(line[start - 1])) --start;
    const std::string_view name = line.substr(start, equals - start);
    if (!is_steering(name)) continue;
    std::string_view value = value_at(line.substr(equals + 1));
    while (value.ends_with(",") || value.ends_with(".")) value.remove_suffix(1);
    sink.raw("env", name, value);
  }
}

int recognise(const TextIndex& text) {
  for (const std::string_view start : kStarts)
    if (text.has(start)) return 60;
  return 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  std::string_view pending;  // "- name: NCCL_DEBUG", whose value stands in the next line
  for (std::size_t i = 0; i < sink.size(); ++i) {
    const std::string_view line = trim(sink.line(i));
    if (line.starts_with("#") || contains(line, "NCCL INFO")) continue;
    sink.at(i);
    take_assignments(sink, line);
    const auto pair = key_value(line.starts_with("- ") ? line.substr(2) : line);
    if (!pair) continue;
    if (pair->key == "name" || pair->key == "\"name\"") {
      pending = value_at(pair->value);
      if (!is_steering(pending)) pending = {};
    } else if ((pair->key == "value" || pair->key == "\"value\"") && !pending.empty()) {
      sink.raw("env", pending, value_at(pair->value));
      pending = {};
    }
  }
}

}  // namespace

extern const SignalReader environment_signals;
const SignalReader environment_signals = {"environment", "env, export, mpirun -x", recognise, read};

}  // namespace isleway::formats
