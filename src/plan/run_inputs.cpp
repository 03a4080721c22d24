#include "plan/run_inputs.hpp"

namespace isleway::plan {

const Result<std::unique_ptr<Interconnect>>& RunInputs::interconnect(const RunPlatform& platform) {
  const std::string key = platform_key(platform);
  const auto known = interconnects_.find(key);
  if (known != interconnects_.end()) return known->second;
  const auto make = [&]() -> Result<std::unique_ptr<Interconnect>> {
    auto fabric = fabric_of(platform, catalogue_);
    if (!fabric) return tl::unexpected(fabric.error());
    return std::make_unique<Interconnect>(std::move(*fabric), catalogue_.parts());
  };
  return interconnects_.emplace(key, make()).first->second;
}

const Result<model::Transformer>& RunInputs::transformer(const RunSource& source,
                                                         const std::string& name) {
  const std::string key = source.models.contains(name) ? source.id + "/" + name : name;
  const auto known = transformers_.find(key);
  if (known != transformers_.end()) return known->second;
  return transformers_.emplace(key, model_of(source, name, models_)).first->second;
}

}  // namespace isleway::plan
