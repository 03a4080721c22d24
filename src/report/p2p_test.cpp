// Formats of cuda-samples' p2pBandwidthLatencyTest.
#include <fmt/format.h>

#include "isleway/report/copies.hpp"
#include "report/gpu_names.hpp"

namespace isleway::report {
namespace {

std::string column_numbers(const char* corner, std::size_t count) {
  std::string line = corner;
  for (std::size_t j = 0; j < count; ++j) line += fmt::format("{:6} ", j);
  return line + "\n";
}

std::string matrix_text(const char* title, const char* corner, const Matrix& matrix) {
  std::string text = std::string(title) + "\n" + column_numbers(corner, matrix.size());
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    text += fmt::format("{:6} ", i);
    for (const double value : matrix[i]) text += fmt::format("{:6.2f} ", value);
    text += "\n";
  }
  return text;
}

std::string access_text(const std::vector<std::vector<bool>>& access) {
  std::string text;
  for (std::size_t i = 0; i < access.size(); ++i)
    for (std::size_t j = 0; j < access.size(); ++j)
      if (i != j)
        text += fmt::format("Device={} {} Access Peer Device={}\n", i,
                            access[i][j] ? "CAN" : "CANNOT", j);
  text += "\nP2P Connectivity Matrix\n     D\\D";
  for (std::size_t j = 0; j < access.size(); ++j) text += fmt::format("{:6}", j);
  text += "\n";
  for (std::size_t i = 0; i < access.size(); ++i) {
    text += fmt::format("{:6}\t", i);
    for (std::size_t j = 0; j < access.size(); ++j)
      text += fmt::format("{:6}", i == j || access[i][j] ? 1 : 0);
    text += "\n";
  }
  return text;
}

}  // namespace

std::string p2p_test_text(const Fabric& fabric, const Parts& parts, const CopyMatrices& copies) {
  std::string text = "[P2P (Peer-to-Peer) GPU Bandwidth Latency Test, simulated by isleway]\n";
  for (GpuId id = 0; id < fabric.gpu_count(); ++id) {
    const BusAddress bus = bus_address(fabric, id);
    text += fmt::format("Device: {}, {}, pciBusID: {:x}, pciDeviceID: {:x}, pciDomainID:{:x}\n", id,
                        gpu_title(fabric, parts, id), bus.bus, bus.device, bus.domain);
  }
  text += access_text(copies.peer_access);
  const char* const gbs = "   D\\D";
  const char* const us = "   GPU";
  text += matrix_text("Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)", gbs,
                      copies.unidirectional_no_p2p_GBs);
  text += matrix_text("Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", gbs,
                      copies.unidirectional_GBs);
  text += matrix_text("Bidirectional P2P=Disabled Bandwidth Matrix (GB/s)", gbs,
                      copies.bidirectional_no_p2p_GBs);
  text += matrix_text("Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)", gbs,
                      copies.bidirectional_GBs);
  text += matrix_text("P2P=Disabled Latency Matrix (us)", us, copies.latency_no_p2p_us);
  text += matrix_text("P2P=Enabled Latency (P2P Writes) Matrix (us)", us, copies.latency_us);
  return text;
}

}  // namespace isleway::report
