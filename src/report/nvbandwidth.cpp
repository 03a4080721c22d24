// Formats of nvbandwidth 0.8 (github.com/NVIDIA/nvbandwidth, inline_common.h).
#include <fmt/format.h>

#include <optional>

#include "isleway/report/copies.hpp"
#include "report/gpu_names.hpp"

namespace isleway::report {
namespace {

using Cells = std::vector<std::vector<std::optional<double>>>;

std::string test_text(const std::string& key, const char* title, const Cells& cells) {
  std::string text = fmt::format("Running {}.\n{}\n  ", key, title);
  for (std::size_t j = 0; j < cells.front().size(); ++j) text += fmt::format("{:10}", j);
  text += "\n";
  double sum = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    text += fmt::format("{:2}", i);
    for (const auto& cell : cells[i]) {
      text += cell ? fmt::format("{:10.2f}", *cell) : fmt::format("{:>10}", "N/A");
      sum += cell.value_or(0);
    }
    text += "\n";
  }
  return text + fmt::format("\nSUM {} {:.2f}\n\n", key, sum);
}

Cells one_row(const std::vector<double>& values) { return {{values.begin(), values.end()}}; }

/// What nvbandwidth measures between peers: `read` exchanges the ends of the copy.
Cells between_peers(const Matrix& matrix, const CopyMatrices& copies, bool read) {
  const std::size_t n = matrix.size();
  Cells cells(n, std::vector<std::optional<double>>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (i != j && copies.peer_access[i][j]) cells[i][j] = read ? matrix[j][i] : matrix[i][j];
  return cells;
}

}  // namespace

std::string nvbandwidth_text(const Fabric& fabric, const Parts& parts, const CopyMatrices& copies,
                             const HostCopies& host) {
  std::string text = "isleway: simulated, as nvbandwidth would print it\n\n" + fabric.name() + "\n";
  for (GpuId id = 0; id < fabric.gpu_count(); ++id) {
    const BusAddress bus = bus_address(fabric, id);
    text += fmt::format("Device {}: {} ({:08x}:{:02x}:{:02x})\n", id, gpu_title(fabric, parts, id),
                        bus.domain, bus.bus, bus.device);
  }
  text += "\n";
  if (fabric.gpu_count() == 0) return text;
  text +=
      test_text("host_to_device_memcpy_ce", "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)",
                one_row(host.host_to_device_GBs));
  text +=
      test_text("device_to_host_memcpy_ce", "memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)",
                one_row(host.device_to_host_GBs));
  text += test_text("device_to_device_memcpy_read_ce",
                    "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)",
                    between_peers(copies.unidirectional_GBs, copies, true));
  text += test_text("device_to_device_memcpy_write_ce",
                    "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)",
                    between_peers(copies.unidirectional_GBs, copies, false));
  text += test_text("device_to_device_bidirectional_memcpy_read_ce_total",
                    "memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)",
                    between_peers(copies.bidirectional_read_GBs, copies, true));
  text += test_text("device_to_device_bidirectional_memcpy_write_ce_total",
                    "memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)",
                    between_peers(copies.bidirectional_GBs, copies, false));
  return text;
}

}  // namespace isleway::report
