#include "cli/models.hpp"

namespace isleway::cli {

Result<model::ModelCatalogue> open_models(Session& session) {
  const auto catalogue = session.catalogue();
  if (!catalogue) return tl::unexpected(catalogue.error());
  return model::ModelCatalogue::open((*catalogue)->folder().parent_path() / "models");
}

Result<model::Transformer> resolve_model(const std::string& name, Session& session) {
  const auto models = open_models(session);
  if (!models) return tl::unexpected(models.error());
  Notices notices;
  auto model = models->find(name, notices);
  report(notices, session);
  if (!model && model.error().hint.empty())
    model.error().hint = "see isleway models, or give a config.json";
  return model;
}

}  // namespace isleway::cli
