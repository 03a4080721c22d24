// What NVIDIA's driver says of a board beyond what the interconnect needs.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "isleway/fabric/catalogue.hpp"

namespace isleway::vgpu::nvml {

struct Board {
  int power_watts = 0, least_power_watts = 0;  ///< limits of the power limit
  int sm_clock = 0, memory_clock = 0;          ///< highest, in MHz
  int bus_bits = 0;                            ///< of the memory
  Bytes frame_buffer;                          ///< what nvidia-smi prints as the total
  bool fan = false;
  bool ecc = true;
};

/// machines/driver/boards.yaml. What it does not know follows from machines/parts.
class Boards {
 public:
  /// Error: the file cannot be read or understood.
  static Result<Boards> load(const Catalogue& catalogue);

  /// Never fails: unknown boards take the figures of the typical board of their generation,
  /// with the memory that the parts catalogue gives them.
  Board of(const Device& gpu) const;
  /// One NVLink, one direction, as the driver prints it: its line rate.
  Rate printed_rate(const Link& link) const;

 private:
  explicit Boards(const Parts& parts) : parts_(&parts) {}
  const Parts* parts_;
  std::map<std::string, Board, std::less<>> boards_;
  std::map<std::string, Rate, std::less<>> links_;
};

}  // namespace isleway::vgpu::nvml
