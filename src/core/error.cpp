#include "isleway/core/error.hpp"

#include "isleway/core/text.hpp"

namespace isleway {

std::string Location::text() const {
  std::string out = file;
  if (line > 0) {
    if (!out.empty()) out += ':';
    out += std::to_string(line);
    if (column > 0) out += ':' + std::to_string(column);
  }
  return out;
}

std::string Error::text() const {
  std::string out = where.text();
  if (!out.empty()) out += ": ";
  out += what;
  if (!expected.empty()) out += "\n  expected: " + expected;
  if (!hint.empty()) out += "\n  try: " + hint;
  return out;
}

tl::unexpected<Error> fail_unknown(std::string_view what, std::string_view name,
                                   const std::vector<std::string>& known) {
  constexpr std::size_t kFew = 16;
  std::string all;
  for (const std::string& one : known) all += (all.empty() ? "one of " : ", ") + one;
  const std::string meant = closest(name, known);
  return fail("there is no " + std::string(what) + " \"" + std::string(name) + "\"",
              known.size() <= kFew ? all : "", meant.empty() ? "" : meant);
}

const char* name_of(Notice::Kind kind) {
  switch (kind) {
    case Notice::Kind::assumed: return "assumed";
    case Notice::Kind::skipped: return "skipped";
    case Notice::Kind::incomplete: return "incomplete";
  }
  return "";
}

void Notices::assumed(Location where, std::string text) {
  all_.push_back({Notice::Kind::assumed, std::move(where), std::move(text)});
}
void Notices::skipped(Location where, std::string text) {
  all_.push_back({Notice::Kind::skipped, std::move(where), std::move(text)});
}
void Notices::incomplete(Location where, std::string text) {
  all_.push_back({Notice::Kind::incomplete, std::move(where), std::move(text)});
}
void Notices::append(const Notices& other) {
  all_.insert(all_.end(), other.all_.begin(), other.all_.end());
}

}  // namespace isleway
