// The three parts of the tuning model; each is a formula of the input alone.
#pragma once

#include "nccl/tuner.hpp"

namespace isleway::nccl {

/// Everything a formula needs, with the quotients that all of them use.
struct ModelPoint {
  const TunerInput& input;
  const TuningTables& tables;
  const Settings& settings;
  Collective collective;
  Algorithm algorithm;
  Protocol protocol;

  const Graph& graph() const;
  /// Ranks of one node; a fraction when nodes differ.
  double ranks_per_node() const { return double(input.ranks) / input.nodes; }
  /// Dependent steps of a ring.
  int ring_steps() const;
  std::size_t scale() const { return input.nodes <= 2 ? std::size_t(input.nodes - 1) : 2; }
};

/// Why this combination does not exist here, in NCCL's terms; empty when it does.
std::string unavailable(const ModelPoint& point);
double model_bandwidth(const ModelPoint& point);  ///< GB/s
double model_latency(const ModelPoint& point);    ///< us

}  // namespace isleway::nccl
