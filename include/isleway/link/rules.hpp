// The constants of link layers, as the parts catalogue has them.
#pragma once

#include "isleway/fabric/parts.hpp"
#include "isleway/link/bit_errors.hpp"
#include "isleway/link/congestion.hpp"
#include "isleway/link/framing.hpp"
#include "isleway/link/gate.hpp"
#include "isleway/link/training.hpp"

namespace isleway::link {

/// How packets find their way where several cables lead on.
enum class Spreading : std::uint8_t {
  striped,   ///< bytes over all cables at once (NVLink: by address)
  adaptive,  ///< each packet takes the cable with the shortest queue
  hashed,    ///< all packets of a connection take one cable (ECMP)
};

enum class FlowControl : std::uint8_t { credits, pause };

/// Read from machines/parts/link-layer.yaml.
struct Rules {
  Framing nvlink_copy, nvlink_sm, pcie, infiniband, ethernet;
  double buffer_round_trips = 2;  ///< buffer of a receiver, beyond what a round trip needs
  Bytes pause_resume_gap;         ///< XOFF less XON
  Bytes switch_buffer;            ///< of an Ethernet port, before it pauses the sender
  EcnRules ecn;
  DcqcnRules dcqcn;
  TrainingRules training;
  int replay_attempts = 4;
  Time recovery;
  Fec fec;                 ///< of links that have it
  int fec_generation = 5;  ///< of NVLink, from which on links have it

  /// Error: names the constant that the catalogue lacks.
  static Result<Rules> from(const Parts& parts);

  /// How a link cuts its payload; `copy` for copy engines, which fill packets.
  Framing framing(const Link& link, bool copy, bool ethernet_network) const;
  bool has_fec(const Link& link) const {
    return link.kind == LinkKind::nvlink && link.generation >= fec_generation;
  }
};

}  // namespace isleway::link
