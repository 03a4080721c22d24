// Models for the commands that take one.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "isleway/model.hpp"

namespace isleway::cli {

/// The models/ folder beside the machines.
Result<model::ModelCatalogue> open_models(Session& session);

/// By name, id or file. Notices of its file are printed.
Result<model::Transformer> resolve_model(const std::string& name, Session& session);

}  // namespace isleway::cli
