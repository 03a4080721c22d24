// A layout as the software that trains takes it, and where its ranks belong.
#pragma once

#include <string>

#include "isleway/plan/train.hpp"

namespace isleway::plan {

/// Arguments of Megatron-LM's pretrain_gpt.py, a line each with a trailing backslash.
std::string megatron_flags(const TrainJob& job, const TrainLayout& layout);
/// Sections of torchtitan's TOML. Notices in it say what torchtitan has no switch for.
std::string torchtitan_toml(const TrainJob& job, const TrainLayout& layout);

/// A line a host, "name slots=8", hosts in rank order: Open MPI, DeepSpeed.
std::string hostfile(const Fabric& fabric);
/// sbatch lines: nodes, tasks, and segments of NVLink domains that must stay whole.
std::string slurm_placement(const Interconnect& interconnect, const TrainLayout& layout);
/// An indexed Job whose pods, one a host, prefer one NVLink domain for ranks that share one.
std::string kubernetes_placement(const Interconnect& interconnect, const TrainLayout& layout);

}  // namespace isleway::plan
