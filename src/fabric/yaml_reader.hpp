// Strict reading of YAML: an unknown key, a missing one or a value of the wrong shape is an
// error at its line, with the nearest known key as a hint.
#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isleway/core/error.hpp"
#include "isleway/core/units.hpp"

namespace isleway {

/// One file being read. Keeps the first error; after it, reading goes on with defaults, so
/// that the code which reads needs no check behind every value.
class YamlFile {
 public:
  /// The document in `text`; an error when it is not YAML, or implausibly large.
  static Result<YamlFile> parse(const std::string& text, std::string name);

  const YAML::Node& root() const { return root_; }
  bool ok() const { return !error_; }
  const std::optional<Error>& error() const { return error_; }
  void fail(const YAML::Node& at, std::string what, std::string expected = {},
            std::string hint = {});
  /// `name` at `at` is none of the known ones.
  void fail_unknown(const YAML::Node& at, std::string_view what, std::string_view name,
                    const std::vector<std::string>& known);

 private:
  std::string name_;
  YAML::Node root_;
  std::optional<Error> error_;
};

/// A mapping. Each key is asked for once; finish() reports those that nobody asked for.
class YamlMap {
 public:
  /// `what` names the mapping in messages: "a GPU", "'nvlink'".
  YamlMap(YamlFile& file, const YAML::Node& node, std::string what);

  const YAML::Node& node() const { return node_; }
  bool has(std::string_view key) const { return find(key) >= 0; }
  /// The value, or an undefined node.
  YAML::Node take(std::string_view key);
  YAML::Node require(std::string_view key);
  /// A list's entries; an error, and none, where the value is no list.
  std::vector<YAML::Node> list(std::string_view key);
  std::vector<YAML::Node> optional_list(std::string_view key);
  /// Keys in the file's order, for mappings whose keys are names.
  std::vector<std::string> keys() const;
  YAML::Node key_node(std::string_view key) const;

  std::string text(std::string_view key, std::string fallback = {});
  std::string required_text(std::string_view key);
  int integer(std::string_view key, int fallback, int least, int most);
  double number(std::string_view key, double fallback, double least, double most);
  bool flag(std::string_view key, bool fallback);
  Rate rate(std::string_view key, Rate fallback = {});
  Time time(std::string_view key, Time fallback = {});
  Bytes bytes(std::string_view key, Bytes fallback = {});
  std::vector<std::string> texts(std::string_view key);
  std::vector<int> integers(std::string_view key, int least, int most);

  void finish();

 private:
  struct Entry {
    std::string key;
    YAML::Node key_node, value;
    bool taken = false;
  };
  int find(std::string_view key) const;
  void wrong(const YAML::Node& at, std::string_view key, std::string expected);

  YamlFile* file_;
  YAML::Node node_;
  std::string what_;
  std::vector<Entry> entries_;
  std::vector<std::string> asked_;
};

/// A scalar as an integer within bounds, or nothing.
std::optional<int> yaml_integer(const YAML::Node& node, int least, int most);

}  // namespace isleway
