// The catalogue of models, and one model.
#pragma once

#include <string>

#include "isleway/model.hpp"

namespace isleway::report {

std::string models_text(const model::ModelCatalogue& catalogue);
std::string models_json(const model::ModelCatalogue& catalogue);

/// Layers, weights, arithmetic, KV cache.
std::string model_text(const model::Transformer& model);
std::string model_json(const model::Transformer& model);

}  // namespace isleway::report
