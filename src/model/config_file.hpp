// Looking things up in a config.json whose keys have many names.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isleway/core/error.hpp"

namespace isleway::model {

/// Names of one key, the usual one first; "a.b" is b inside a.
using Names = std::initializer_list<const char*>;

/// Keeps the first error; after it, reading goes on with defaults, so that the code which
/// reads needs no check behind every value. A key whose value is null is not there.
class ConfigFile {
 public:
  /// Error: not JSON (Python's Infinity and NaN are taken), or no object.
  static Result<ConfigFile> parse(const std::string& text, std::string name);

  bool has(Names names) const { return find(names) != nullptr; }
  std::int64_t integer(Names names, std::int64_t fallback, std::int64_t least = 0,
                       std::int64_t most = kMost);
  /// Error when there is none.
  std::int64_t required(Names names, std::string_view what, std::int64_t most = kMost);
  double number(Names names, double fallback);
  bool flag(Names names, bool fallback);
  std::string text(Names names, std::string fallback = {});
  std::vector<std::string> texts(Names names);
  std::vector<std::int64_t> integers(Names names);

  bool ok() const { return !error_; }
  const Error& error() const { return *error_; }
  void fail(Names at, std::string what, std::string expected = {}, std::string hint = {});
  void assume(Notices& notices, std::string what) const { notices.assumed({name_}, what); }
  const std::string& name() const { return name_; }

  static constexpr std::int64_t kMost = std::int64_t{1} << 31;

 private:
  const nlohmann::json* find(Names names, const char** found = nullptr) const;
  Location location(std::string_view key) const;
  void wrong(const char* key, const nlohmann::json& value, std::string expected);

  std::string name_, text_;
  nlohmann::json root_;
  /// The language model's part, then what is around it.
  std::vector<const nlohmann::json*> scopes() const;
  std::string inner_;  ///< key of the language model's part, or empty
  std::optional<Error> error_;
};

}  // namespace isleway::model
