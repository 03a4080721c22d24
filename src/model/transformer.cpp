#include "isleway/model/transformer.hpp"

#include <algorithm>

namespace isleway::model {

const char* name_of(MixerKind kind) {
  switch (kind) {
    case MixerKind::none: return "none";
    case MixerKind::attention: return "attention";
    case MixerKind::latent_attention: return "latent attention";
    case MixerKind::recurrent: return "recurrent";
  }
  return "";
}

std::int64_t Transformer::experts() const {
  for (const std::uint8_t kind : order)
    if (kinds[kind].feed_forward.experts > 0) return kinds[kind].feed_forward.experts;
  return 0;
}

bool Transformer::has_experts() const { return experts() > 0; }

const Mixer* Transformer::first_attention() const {
  for (const std::uint8_t kind : order) {
    const Mixer& mixer = kinds[kind].mixer;
    if (mixer.kind == MixerKind::attention || mixer.kind == MixerKind::latent_attention)
      return &mixer;
  }
  return nullptr;
}

}  // namespace isleway::model
