// How a model is divided over GPUs that answer requests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "isleway/core/error.hpp"
#include "isleway/model/transformer.hpp"

namespace isleway::plan {

/// One worker: GPUs that hold the model once. Attention is divided over `tensor` GPUs, and
/// `data` such groups answer requests of their own; the experts are shared by all of them,
/// whole experts over `expert` GPUs and each expert over the rest.
struct ServeLayout {
  int tensor = 1, data = 1, pipeline = 1;
  int expert = 1;
  int workers = 1;

  int stage_gpus() const { return tensor * data; }
  int expert_tensor() const { return stage_gpus() / expert; }
  int worker_gpus() const { return stage_gpus() * pipeline; }
  int gpus() const { return worker_gpus() * workers; }
  friend bool operator==(const ServeLayout&, const ServeLayout&) = default;
};

/// "tp=8,ep=8,workers=2": what is not named is 1. Error: an unknown key or value.
Result<ServeLayout> parse_serve_layout(std::string_view text);
/// "tp8 dp2 ep16 pp1 x2", leaving out what is 1.
std::string short_text(const ServeLayout& layout);

/// Why the model cannot be divided like that, and the nearest layout that can; nothing where
/// it can. Memory is not looked at.
std::optional<Error> objection(const ServeLayout& layout, const model::Transformer& model);

}  // namespace isleway::plan
