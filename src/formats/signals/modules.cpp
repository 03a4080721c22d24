// lsmod.
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

/// "nvidia_peermem   16384  0" with the modules that use it behind.
struct Module {
  std::string_view name, users;
};
std::optional<Module> parse_module(std::string_view line) {
  const auto words = split_words(line);
  const bool proc = words.size() >= 5 && words[4] == "Live";  // /proc/modules
  if (words.size() < 3 || (words.size() > 4 && !proc)) return std::nullopt;
  if (!parse_int(words[1]) || !parse_int(words[2])) return std::nullopt;
  return Module{words[0], words[2]};
}

/// Modules that a line alone, as grep leaves it, is believed of.
bool is_known(std::string_view name) {
  for (const char* start : {"nvidia", "nv_peer_mem", "gdrdrv", "mlx", "ib_", "rdma_", "amdgpu",
                            "nvme_rdma", "efa", "bnxt_re", "irdma", "vfio", "nouveau"})
    if (name.starts_with(start)) return true;
  return false;
}

int recognise(const TextIndex& text) {
  if (text.has("Used by") || text.has(" Live 0x")) return 90;
  for (const char* name : {"nvidia_peermem", "nv_peer_mem", "nvidia_uvm", "gdrdrv", "mlx5_ib",
                           "nvidia_drm", "nvidia_modeset"})
    if (text.has(name)) return 60;
  return 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  bool whole = false, peermem = false;
  std::size_t heading = 0;
  for (std::size_t i = 0; i < sink.size(); ++i) {
    const std::string_view line = sink.line(i);
    if ((contains(line, "Module") && contains(line, "Used by")) || contains(line, " Live 0x")) {
      if (!whole) heading = i;
      whole = true;
    }
    // "nvidia_peermem 12288 0; GPU Direct RDMA Disabled" in a report's words
    const auto module = parse_module(before(line, ";"));
    if (!module || !(is_known(module->name) || whole)) continue;
    sink.at(i);
    sink.measure("module.loaded", module->name, module->users);
    peermem = peermem || module->name == "nvidia_peermem" || module->name == "nv_peer_mem";
  }
  if (!whole || peermem) return;
  // What a whole list lacks is not loaded.
  sink.at(heading);
  sink.number("module.missing", "nvidia_peermem", 1);
}

}  // namespace

extern const SignalReader modules_signals;
const SignalReader modules_signals = {"modules", "lsmod", recognise, read};

}  // namespace isleway::formats
