// How training software and hardware behave beyond single kernels.
#pragma once

#include <string>

#include "isleway/fabric/parts.hpp"

namespace isleway::plan {

/// From machines/parts/training.yaml, where each has its source.
struct TrainingConstants {
  double tensor_hidden = 0;  ///< share of tensor traffic that matrix multiplies can hide
  double expert_hidden = 0;  ///< share of experts' traffic that another micro-batch hides
  double data_hidden = 0;    ///< share of a pass that can hide gradients or weights
  double beside = 0;         ///< what a GPU loses to collectives that run beside it
  /// Speed of hours of training over that of a short benchmark: of the GPU's generation, times
  /// that of this cluster over others (1 until calibrated).
  double sustained = 1;
  double launches = 1;           ///< kernels of the software for one that this program counts
  double collective_launch = 0;  ///< seconds of the host for a collective
  double pointwise = 1;          ///< bytes of kernels between matrix multiplies, over those counted
  double step_overhead = 0;      ///< seconds of a step for the host's own work
  double optimizer_rate = 1;     ///< share of the memory's rate that the optimizer reaches
  double fragmentation = 0;      ///< share of activations that the allocator loses
  double context_bytes = 0;      ///< of the driver, NCCL and workspaces

  /// `generation` as in machines/compute; empty where only memory is asked for. Error: one is
  /// missing.
  static Result<TrainingConstants> read(const Parts& parts, const std::string& generation = {});
};

}  // namespace isleway::plan
