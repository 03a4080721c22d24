// Lines of the kernel's log and of the journal, in their several forms.
#pragma once

#include <optional>
#include <string_view>

#include "formats/signal_sink.hpp"

namespace isleway::formats {

struct KernelLine {
  std::string_view host;         ///< empty where the line does not say
  std::optional<double> time_s;  ///< since boot
  std::string_view text;
};

/// "[   38.17] text", "6,3973,227996636,-;text" (/dev/kmsg), "Aug 12 10:00:00 n1 kernel: text",
/// "n1 kernel: [38.17] text". A line of none of these forms is all text.
KernelLine parse_kernel_line(std::string_view line);

/// The host of a journal's line: the word before "<program>:" or "<program>[123]:".
std::string_view journal_host(std::string_view line, std::string_view program);

/// Says each word of a kernel command line: `kernel.parameter`.
void add_kernel_parameters(SignalSink& sink, std::string_view command_line);

}  // namespace isleway::formats
