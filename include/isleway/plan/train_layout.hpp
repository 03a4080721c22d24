// How a training job is divided over GPUs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "isleway/core/error.hpp"
#include "isleway/model/memory.hpp"

namespace isleway::plan {

/// What data-parallel ranks divide among them rather than each keep.
enum class Sharding : std::uint8_t {
  none,       ///< plain data parallelism: gradients are all-reduced
  optimizer,  ///< ZeRO-1, Megatron's distributed optimizer
  gradients,  ///< ZeRO-2
  parameters  ///< ZeRO-3, FSDP: weights are gathered layer by layer
};
const char* name_of(Sharding sharding);

enum class Schedule : std::uint8_t {
  one_f_one_b,
  interleaved,  ///< several stages a rank
  zero_bubble,  ///< ZB-H1: the weights' gradients fill the bubble
  dual_pipe     ///< both ends feed the pipeline; two stages a rank
};
const char* name_of(Schedule schedule);

/// The dimensions that ranks are counted along.
enum class Dimension : std::uint8_t { tensor, context, expert, data, pipeline };
inline constexpr std::size_t kDimensions = 5;
const char* name_of(Dimension dimension);  ///< "tp", "cp", "ep", "dp", "pp"

/// Innermost first: ranks next to one another differ in the first one. Experts' ranks lie
/// inside those of tensor, context and data, wherever `expert` stands among them.
using Order = std::array<Dimension, kDimensions>;
inline constexpr Order kUsualOrder = {Dimension::tensor, Dimension::context, Dimension::expert,
                                      Dimension::data, Dimension::pipeline};

/// How context-parallel ranks show one another their keys and values.
enum class ContextMethod : std::uint8_t { ring, all_gather, all_to_all };
const char* name_of(ContextMethod method);

struct TrainLayout {
  int tensor = 1, context = 1, expert = 1, expert_tensor = 1, pipeline = 1;
  int virtual_stages = 1;  ///< of a pipeline rank
  int data = 1;            ///< ranks that see different sequences
  int micro_batch = 1;     ///< sequences
  Sharding sharding = Sharding::optimizer;
  int shard_group = 0;  ///< ranks that weights are divided over (HSDP); 0: all
  Schedule schedule = Schedule::one_f_one_b;
  model::Recompute recompute = model::Recompute::none;
  bool sequence = true;  ///< sequence parallelism beside tensor parallelism
  ContextMethod context_method = ContextMethod::ring;
  Order order = kUsualOrder;

  int ranks() const { return tensor * context * pipeline * data; }
  int stages() const { return pipeline * virtual_stages; }
  int expert_data() const { return tensor * context * data / (expert * expert_tensor); }
  friend bool operator==(const TrainLayout&, const TrainLayout&) = default;
};

/// "tp8 pp4 vp2 dp8 mbs1", leaving out what is 1.
std::string short_text(const TrainLayout& layout);
/// "tp=8,pp=4,vp=2,dp=8,mbs=1,sharding=optimizer,recompute=none,...": all of it, as
/// parse_layout reads it.
std::string full_text(const TrainLayout& layout);

/// Keys tp, cp, ep, etp, pp, vp, dp, mbs, sharding (or zero=0..3, fsdp=N), recompute,
/// schedule, sp, order, cp-method; what is not named is 1 or the default. Without dp, `ranks`
/// decides; 0 leaves it 1. Error: an unknown key or value, or ranks that do not divide.
Result<TrainLayout> parse_layout(std::string_view text, int ranks);
Result<Order> parse_order(std::string_view text);  ///< "tp-cp-ep-dp-pp"

}  // namespace isleway::plan
