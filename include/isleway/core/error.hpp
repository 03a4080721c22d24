// What a user did wrong, as a value. Programming errors are assertions instead.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace isleway {

/// A place in an input. Line and column count from 1; 0 means "not known".
struct Location {
  std::string file;
  int line = 0;
  int column = 0;

  /// "file:12:3", leaving out what is not known.
  std::string text() const;
};

/// An input that cannot be used: where, what is wrong, what was expected, what to do.
struct Error {
  Location where;
  std::string what;
  std::string expected;  ///< may be empty
  std::string hint;      ///< what the user can do; may be empty

  /// All parts on as many lines as needed, ready for a terminal.
  std::string text() const;
};

template <class T>
using Result = tl::expected<T, Error>;

/// Short form for `return fail(...)` in functions that return a Result.
inline tl::unexpected<Error> fail(std::string what, std::string expected = {},
                                  std::string hint = {}, Location where = {}) {
  return tl::unexpected<Error>(
      Error{std::move(where), std::move(what), std::move(expected), std::move(hint)});
}

/// A name that is none of the known ones: lists them (when they are few) and says which
/// one was most likely meant.
tl::unexpected<Error> fail_unknown(std::string_view what, std::string_view name,
                                   const std::vector<std::string>& known);

/// Something a reader could not use, or had to assume, while it went on with the rest.
struct Notice {
  enum class Kind { assumed, skipped, incomplete };
  Kind kind;
  Location where;
  std::string text;
};

const char* name_of(Notice::Kind kind);

/// Collects notices in the order in which they were met.
class Notices {
 public:
  void assumed(Location where, std::string text);
  void skipped(Location where, std::string text);
  void incomplete(Location where, std::string text);
  void append(const Notices& other);

  bool empty() const { return all_.empty(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  std::size_t size() const { return all_.size(); }

 private:
  std::vector<Notice> all_;
};

}  // namespace isleway
