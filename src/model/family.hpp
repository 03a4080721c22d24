// What is no key of config.json but a habit of an architecture.
#pragma once

#include <string_view>

namespace isleway::model {

enum class Norm : unsigned char { rms, layer, layer_without_bias };
/// Norms of queries and keys: none, one weight per element of a head, or of all heads.
enum class QkNorm : unsigned char { none, per_head, per_layer };

struct Family {
  const char* name = "";
  bool gated = true;
  bool qkv_bias = false, out_bias = false, mlp_bias = false;
  Norm norm = Norm::rms;
  int norms = 2;  ///< in a layer
  QkNorm qk_norm = QkNorm::none;
  bool tied = false;
  bool learned_positions = false;
  bool embedding_norm = false;
};

/// By model_type; null for one that is not known.
const Family* find_family(std::string_view model_type);

}  // namespace isleway::model
