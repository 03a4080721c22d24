// /proc/cmdline, and GRUB's file that it is made from.
#include "formats/kernel_lines.hpp"

namespace isleway::formats {
namespace {

bool is_command_line(std::string_view line) {
  return line.starts_with("BOOT_IMAGE=") ||
         (contains(line, "root=") && contains(line, " ro") && !contains(line, "ommand line"));
}

int recognise(const TextIndex& text) {
  return text.has("BOOT_IMAGE=") || text.has("root=") || text.has("GRUB_CMDLINE_LINUX") ? 80 : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  for (std::size_t i = 0; i < sink.size(); ++i) {
    const std::string_view line = trim(sink.line(i));
    sink.at(i);
    // The file at its own prompt is read there.
    if (sink.line(0).starts_with("$ cat /proc/cmdline") && i < 2) continue;
    if (is_command_line(line)) add_kernel_parameters(sink, line);
    else if (line.starts_with("GRUB_CMDLINE_LINUX")) add_kernel_parameters(sink, after(line, "="));
  }
}

}  // namespace

extern const SignalReader kernel_command_line_signals;
const SignalReader kernel_command_line_signals = {"kernel-command-line", "/proc/cmdline, GRUB",
                                                  recognise, read};

}  // namespace isleway::formats
