#include "model/config_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "isleway/core/text.hpp"

namespace isleway::model {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLargest = std::size_t{16} << 20;
constexpr std::size_t kDeepest = 64;
constexpr std::array<std::string_view, 3> kPythonWords = {"-Infinity", "Infinity", "NaN"};

/// Python writes infinities and NaN as words that JSON does not have.
std::string without_python_numbers(const std::string& text) {
  std::string clean;
  clean.reserve(text.size());
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (text[i] == '"') quoted = !quoted;
    if (quoted && text[i] == '\\' && i + 1 < text.size()) {
      clean += text[i++];
    } else if (!quoted) {
      const auto word = std::find_if(kPythonWords.begin(), kPythonWords.end(),
                                     [&](std::string_view w) { return rest.starts_with(w); });
      if (word != kPythonWords.end()) {
        clean += "null";
        i += word->size() - 1;
        continue;
      }
    }
    clean += text[i];
  }
  return clean;
}

/// Objects and lists inside one another could else exhaust the stack.
bool too_deep(const std::string& text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth > 0) --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(std::string(key));
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

const Json* at_path(const Json& object, std::string_view path) {
  const Json* at = &object;
  for (const std::string_view key : split(path, '.')) {
    at = member(*at, key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

}  // namespace

Result<ConfigFile> ConfigFile::parse(const std::string& text, std::string name) {
  if (text.size() > kLargest || too_deep(text))
    return isleway::fail("too large or too deep for a model's config.json", {}, {}, {name});
  ConfigFile file;
  file.name_ = std::move(name);
  file.text_ = text;
  try {
    file.root_ = Json::parse(without_python_numbers(text));
  } catch (const Json::parse_error& error) {
    const auto end = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(end), '\n');
    return isleway::fail("this is not JSON", "a config.json as it comes with a model", {},
                         {file.name_, static_cast<int>(line)});
  }
  if (!file.root_.is_object())
    return isleway::fail("the file holds no JSON object", "a config.json as it comes with a model",
                         {}, {file.name_});
  for (const char* key : {"text_config", "llm_config", "language_config", "thinker_config"}) {
    const Json* inner = member(file.root_, key);
    if (inner != nullptr && inner->is_object()) {
      file.inner_ = key;
      break;
    }
  }
  return file;
}

std::vector<const Json*> ConfigFile::scopes() const {
  if (inner_.empty()) return {&root_};
  const Json& inner = root_.at(inner_);
  // thinker_config of an omni model holds another text_config.
  if (const Json* nested = member(inner, "text_config"); nested != nullptr && nested->is_object())
    return {nested, &inner, &root_};
  return {&inner, &root_};
}

const Json* ConfigFile::find(Names names, const char** found) const {
  for (const Json* scope : scopes()) {
    for (const char* name : names) {
      if (const Json* value = at_path(*scope, name)) {
        if (found != nullptr) *found = name;
        return value;
      }
    }
  }
  return nullptr;
}

Location ConfigFile::location(std::string_view key) const {
  const std::string_view last = split(key, '.').back();
  const auto at = text_.find(fmt::format("\"{}\"", last));
  if (at == std::string::npos) return {name_};
  const auto line =
      1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return {name_, static_cast<int>(line)};
}

void ConfigFile::fail(Names at, std::string what, std::string expected, std::string hint) {
  if (error_) return;
  const char* found = at.size() > 0 ? *at.begin() : "";
  find(at, &found);
  error_ = Error{location(found), std::move(what), std::move(expected), std::move(hint)};
}

void ConfigFile::wrong(const char* key, const Json& value, std::string expected) {
  if (error_) return;
  std::string shown = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (shown.size() > 40) shown = shown.substr(0, 37) + "...";
  error_ = Error{location(key), fmt::format("\"{}\" is {}", key, shown), std::move(expected), {}};
}

std::int64_t ConfigFile::integer(Names names, std::int64_t fallback, std::int64_t least,
                                 std::int64_t most) {
  const char* key = "";
  const Json* value = find(names, &key);
  if (value == nullptr) return fallback;
  // Some models give one number for each layer; what matters here is the same in all.
  if (value->is_array() && !value->empty()) value = &value->front();
  const double number = value->is_number() ? value->get<double>() : -1;
  if (number >= static_cast<double>(least) && number <= static_cast<double>(most) &&
      number == static_cast<double>(static_cast<std::int64_t>(number)))
    return static_cast<std::int64_t>(number);
  wrong(key, *value, fmt::format("a whole number of {} to {}", least, most));
  return fallback;
}

std::int64_t ConfigFile::required(Names names, std::string_view what, std::int64_t most) {
  if (!has(names)) {
    std::string list;
    for (const char* name : names) list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
    fail({}, fmt::format("{} is missing", what), fmt::format("a key {}", list),
         "give the config.json of a language model");
    return 1;
  }
  return integer(names, 1, 1, most);
}

double ConfigFile::number(Names names, double fallback) {
  const Json* value = find(names);
  return value != nullptr && value->is_number() ? value->get<double>() : fallback;
}

bool ConfigFile::flag(Names names, bool fallback) {
  const Json* value = find(names);
  return value != nullptr && value->is_boolean() ? value->get<bool>() : fallback;
}

std::string ConfigFile::text(Names names, std::string fallback) {
  const Json* value = find(names);
  return value != nullptr && value->is_string() ? value->get<std::string>() : fallback;
}

std::vector<std::string> ConfigFile::texts(Names names) {
  std::vector<std::string> all;
  const Json* value = find(names);
  if (value == nullptr || !value->is_array()) return all;
  for (const Json& one : *value)
    if (one.is_string()) all.push_back(one.get<std::string>());
  return all;
}

std::vector<std::int64_t> ConfigFile::integers(Names names) {
  std::vector<std::int64_t> all;
  const Json* value = find(names);
  if (value == nullptr || !value->is_array()) return all;
  for (const Json& one : *value)
    if (one.is_number_integer()) all.push_back(one.get<std::int64_t>());
  return all;
}

}  // namespace isleway::model
