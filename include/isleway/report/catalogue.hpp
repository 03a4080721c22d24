// The catalogue as a list.
#pragma once

#include <string>

#include "isleway/fabric.hpp"

namespace isleway::report {

std::string catalogue_text(const Catalogue& catalogue);
/// See docs/json.md.
std::string catalogue_json(const Catalogue& catalogue);

}  // namespace isleway::report
