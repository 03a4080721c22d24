// Which ranks talk to one another under a layout.
#pragma once

#include "isleway/plan/interconnect.hpp"
#include "isleway/plan/train_layout.hpp"

namespace isleway::plan {

struct Groups {
  GroupShape tensor, context, pipeline;
  GroupShape data;      ///< that share gradients: data and context together
  GroupShape shards;    ///< of them, those that weights are divided over
  GroupShape replicas;  ///< and those that hold the same shard
  GroupShape expert, expert_tensor, expert_data;
};

Groups groups_of(const TrainLayout& layout);

}  // namespace isleway::plan
