// JSON as this program writes it: keys in the order given, numbers without noise.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace isleway::report {

using Json = nlohmann::ordered_json;

/// Rounded to `decimals`, so that the shortest text that reads back has no more of them.
inline double rounded(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::isfinite(value) && std::abs(value) < 1e15 ? std::round(value * scale) / scale : value;
}

/// Null for an empty text.
inline Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// As a document, ending with a line end. Bytes that are not UTF-8 are replaced.
inline std::string document(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace isleway::report
