#include "formats/expression.hpp"

#include <filesystem>

#include "isleway/core.hpp"

namespace isleway::formats {
namespace {

constexpr std::int64_t kMostCopies = 1'000'000;

bool is_file(std::string_view name) {
  std::error_code ignored;
  return name == "-" || std::filesystem::exists(std::filesystem::path(name), ignored);
}

Result<MachineTerm> parse_term(std::string_view text) {
  text = trim(text);
  MachineTerm term;
  const std::size_t star = is_file(text) ? text.npos : text.rfind('*');
  term.name = trim(text.substr(0, star));
  if (term.name.empty())
    return fail("\"" + std::string(text) + "\" names no machine", "as in dgx-h100*16");
  if (star != text.npos) {
    const auto count = parse_int(text.substr(star + 1));
    if (!count || *count < 1 || *count > kMostCopies)
      return fail("\"" + std::string(text.substr(star + 1)) + "\" is no number of machines",
                  "1 to " + std::to_string(kMostCopies) + ", as in dgx-h100*16");
    term.count = static_cast<std::uint32_t>(*count);
  }
  term.is_file = is_file(term.name);
  return term;
}

}  // namespace

Result<std::vector<MachineTerm>> parse_expression(std::string_view text) {
  auto whole = parse_term(text);
  // A path with a '+' in it is one term.
  if (text.find('+') == text.npos || (whole && whole->is_file))
    return whole.map([](MachineTerm& term) { return std::vector{std::move(term)}; });
  std::vector<MachineTerm> terms;
  for (const std::string_view piece : split(text, '+')) {
    auto term = parse_term(piece);
    if (!term) return tl::unexpected(term.error());
    terms.push_back(std::move(*term));
  }
  return terms;
}

}  // namespace isleway::formats
