// A model from the config.json that comes with its weights, and the catalogue of models.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "isleway/core/error.hpp"
#include "isleway/model/transformer.hpp"

namespace isleway::model {

/// Reads config.json as Hugging Face, or this catalogue, writes it: all aliases of its keys,
/// text models inside multimodal ones. What is no key but a habit of an architecture (gated
/// feed-forward, biases, norms, tied embeddings) comes from model_type; for one that is not
/// known a notice says what was assumed. Error: what is missing or cannot be.
Result<Transformer> from_config(const std::string& text, const std::string& file, Notices& notices);

/// What is known of a model beside its shape.
struct ModelEntry {
  std::string name, title, id, source;  ///< id: "meta-llama/Meta-Llama-3.1-405B"
  std::vector<std::string> aliases;
  double published_total = 0, published_active = 0;  ///< billions of parameters; 0: not stated
  std::filesystem::path file;
};

/// The models/ folder: one config.json a model, with an "isleway" key for the entry above.
class ModelCatalogue {
 public:
  static Result<ModelCatalogue> open(std::filesystem::path folder);
  const std::vector<ModelEntry>& entries() const { return entries_; }
  /// A name, an alias, the id on Hugging Face, or a file (a config.json, or a folder with
  /// one). Error: unknown, with the nearest names.
  Result<Transformer> find(std::string_view name, Notices& notices) const;

 private:
  std::vector<ModelEntry> entries_;
};

}  // namespace isleway::model
