// Text inside XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace isleway {

/// With & < > " as entities: fit for elements and for attributes in double quotes.
std::string escape_markup(std::string_view text);

}  // namespace isleway
