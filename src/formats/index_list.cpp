#include "formats/index_list.hpp"

#include <algorithm>
#include <optional>

#include "isleway/core.hpp"

namespace isleway::formats {
namespace {

constexpr std::int64_t kMostIndices = 4096;

struct Span {
  std::int64_t first, last;
};

std::optional<Span> parse_span(std::string_view text) {
  const std::size_t dash = text.find('-', 1);
  const auto first = parse_int(text.substr(0, dash));
  const auto last = dash == text.npos ? first : parse_int(text.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first || *last >= kMostIndices) return std::nullopt;
  return Span{*first, *last};
}

}  // namespace

Result<std::vector<int>> parse_indices(std::string_view text, std::string_view option) {
  std::vector<int> indices;
  for (const std::string_view piece : split(text, ',')) {
    const auto span = parse_span(trim(piece));
    if (!span)
      return fail(std::string(option) + ": \"" + std::string(piece) + "\" is no index",
                  "numbers from 0 to " + std::to_string(kMostIndices - 1) + ", as in 0,1,4 or 0-3");
    for (std::int64_t i = span->first; i <= span->last; ++i) {
      const int index = static_cast<int>(i);
      if (std::find(indices.begin(), indices.end(), index) != indices.end())
        return fail(std::string(option) + ": " + std::to_string(index) + " is listed twice");
      indices.push_back(index);
    }
  }
  return indices;
}

}  // namespace isleway::formats
