// What single files of /sys and /proc state.
#pragma once

#include "formats/signal_sink.hpp"

namespace isleway::formats {

/// Says `sysfs` (path and content) and, where the path has a meaning in docs/signals.md, the
/// signal for it: a NIC's rate and counters, a PCIe link, a device's NUMA node.
void add_path_fact(SignalSink& sink, std::string_view path, std::string_view content);

/// An entry of a directory: IOMMU units, peer memory clients, IMEX channels.
void add_listed_fact(SignalSink& sink, std::string_view directory, std::string_view entry);

}  // namespace isleway::formats
