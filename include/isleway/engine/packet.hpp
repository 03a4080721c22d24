// The packet engine: links with buffers, switches with queues, wires with errors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "isleway/engine/engine.hpp"
#include "isleway/engine/recorder.hpp"
#include "isleway/link/rules.hpp"

namespace isleway {

struct PacketOptions {
  link::Rules rules;
  /// Wrong bits per bit that arrives, on NVLinks; drawn anew for each run from the seed.
  double bit_error_rate = 0;
  std::uint64_t seed = 1;
  /// Messages are cut into at most this many trains of packets for each plane, no shorter than
  /// a packet or `shortest_train`; 0: packet by packet.
  int most_trains = 32;
  Bytes shortest_train = Bytes::kib(4);
  /// A message whose links nobody else uses moves as one train.
  bool whole_when_alone = true;
  /// Otherwise as the network's technology has it: Ethernet hashes, others adapt.
  std::optional<link::Spreading> spreading;
  /// That share one simulation, where the network is large enough to divide; 0: as many as there
  /// are cores. The outcome does not depend on it.
  int threads = 0;
  /// Credits, pauses, marks. Without, buffers hold whatever comes.
  bool flow_control = true;
};

/// `recorder` may be null; it outlives the engine.
std::unique_ptr<Engine> make_packet_engine(const PacketOptions& options,
                                           Recorder* recorder = nullptr);

}  // namespace isleway
