// The layers that a config.json describes.
#pragma once

#include <vector>

#include "isleway/model/transformer.hpp"
#include "model/config_file.hpp"
#include "model/family.hpp"

namespace isleway::model {

/// What a layer does, before its sizes are known.
enum class Role : unsigned char {
  attention,  ///< to all tokens before it
  windowed,   ///< to those of a window or chunk
  recurrent,
  feed_forward,
  experts
};

/// The part of a layer that mixes tokens, and the part that does not; a hybrid's layers may
/// have only one of them.
struct LayerPlan {
  bool mixes = true, feeds = true;
  Role mixer = Role::attention;
  Role feed_forward = Role::feed_forward;
};

/// One entry a layer, from patterns, lists of types, and strides.
std::vector<LayerPlan> plan_layers(ConfigFile& file, const Family& family);
/// The same for the modules that predict further tokens.
std::vector<LayerPlan> plan_mtp(ConfigFile& file, const std::vector<LayerPlan>& layers);

/// Sizes and small weights of layer `index`.
Layer build_layer(ConfigFile& file, const Family& family, const LayerPlan& plan, std::size_t index);

/// Sizes that every layer needs.
std::int64_t hidden_size(ConfigFile& file);
std::int64_t expert_count(ConfigFile& file);

}  // namespace isleway::model
