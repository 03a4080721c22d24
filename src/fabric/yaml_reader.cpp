#include "fabric/yaml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/yaml_units.hpp"
#include "isleway/core/text.hpp"

namespace isleway {
namespace {

/// A machine is a page or two; a megabyte of YAML is a mistake, and slow to parse.
constexpr std::size_t kMaxFile = std::size_t{1} << 20;

Location location_of(const std::string& file, const YAML::Mark& mark) {
  if (mark.is_null()) return {file};
  return {file, mark.line + 1, mark.column + 1};
}

std::string shown(const YAML::Node& node) {
  if (!node.IsDefined() || node.IsNull()) return "nothing";
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  const std::string text = node.Scalar();
  return fmt::format("\"{}{}\"", text.substr(0, 40), text.size() > 40 ? "..." : "");
}

}  // namespace

Result<YamlFile> YamlFile::parse(const std::string& text, std::string name) {
  if (text.size() > kMaxFile)
    return isleway::fail(fmt::format("the file has {} bytes", text.size()), "at most 1 MiB of YAML",
                         {}, {std::move(name)});
  YamlFile file;
  file.name_ = std::move(name);
  try {
    file.root_ = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    return isleway::fail(error.msg, "valid YAML",
                         "indent with blanks, not tabs; quote texts that hold ': ' or '#'",
                         location_of(file.name_, error.mark));
  }
  return file;
}

void YamlFile::fail(const YAML::Node& at, std::string what, std::string expected,
                    std::string hint) {
  if (error_) return;
  const YAML::Mark mark = at.IsDefined() ? at.Mark() : YAML::Mark::null_mark();
  error_ = Error{location_of(name_, mark), std::move(what), std::move(expected), std::move(hint)};
}

void YamlFile::fail_unknown(const YAML::Node& at, std::string_view what, std::string_view name,
                            const std::vector<std::string>& known) {
  Error error = isleway::fail_unknown(what, name, known).value();
  fail(at, std::move(error.what), std::move(error.expected), std::move(error.hint));
}

YamlMap::YamlMap(YamlFile& file, const YAML::Node& node, std::string what)
    : file_(&file), node_(node), what_(std::move(what)) {
  if (!node.IsDefined() || !node.IsMap()) {
    file.fail(node, fmt::format("{} is {}", what_, shown(node)), "a mapping: key: value");
    return;
  }
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) {
      file.fail(pair.first, fmt::format("a key of {} is {}", what_, shown(pair.first)), "a word");
      continue;
    }
    const std::string key = pair.first.Scalar();
    if (find(key) >= 0) file.fail(pair.first, fmt::format("'{}' is given twice in {}", key, what_));
    entries_.push_back({key, pair.first, pair.second});
  }
}

int YamlMap::find(std::string_view key) const {
  const auto entry =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
  return entry == entries_.end() ? -1 : int(entry - entries_.begin());
}

YAML::Node YamlMap::take(std::string_view key) {
  asked_.emplace_back(key);
  const int i = find(key);
  if (i < 0) return YAML::Node(YAML::NodeType::Undefined);
  entries_[std::size_t(i)].taken = true;
  return entries_[std::size_t(i)].value;
}

YAML::Node YamlMap::require(std::string_view key) {
  YAML::Node value = take(key);
  if (!value.IsDefined()) file_->fail(node_, fmt::format("{} lacks '{}'", what_, key));
  return value;
}

std::vector<YAML::Node> YamlMap::optional_list(std::string_view key) {
  const YAML::Node value = take(key);
  std::vector<YAML::Node> entries;
  if (!value.IsDefined()) return entries;
  if (!value.IsSequence()) wrong(value, key, "a list");
  else
    for (const auto& entry : value) entries.push_back(entry);
  return entries;
}

std::vector<YAML::Node> YamlMap::list(std::string_view key) {
  if (!has(key)) require(key);  // says that it is missing
  return optional_list(key);
}

std::vector<std::string> YamlMap::keys() const {
  std::vector<std::string> keys;
  for (const Entry& entry : entries_) keys.push_back(entry.key);
  return keys;
}

YAML::Node YamlMap::key_node(std::string_view key) const {
  const int i = find(key);
  return i < 0 ? node_ : entries_[std::size_t(i)].key_node;
}

void YamlMap::wrong(const YAML::Node& at, std::string_view key, std::string expected) {
  file_->fail(at, fmt::format("'{}' of {} is {}", key, what_, shown(at)), std::move(expected));
}

std::string YamlMap::text(std::string_view key, std::string fallback) {
  const YAML::Node value = take(key);
  if (!value.IsDefined()) return fallback;
  if (!value.IsScalar()) wrong(value, key, "a text");
  return value.IsScalar() ? value.Scalar() : fallback;
}

std::string YamlMap::required_text(std::string_view key) {
  const YAML::Node value = require(key);
  if (!value.IsDefined()) return {};
  const bool good = value.IsScalar() && !trim(value.Scalar()).empty();
  if (!good) wrong(value, key, "a text");
  return good ? value.Scalar() : std::string();
}

std::optional<int> yaml_integer(const YAML::Node& node, int least, int most) {
  if (!node.IsDefined() || !node.IsScalar()) return std::nullopt;
  const std::string& text = node.Scalar();
  const auto value = text.starts_with("0x") ? parse_int(text, 16) : parse_int(text);
  if (!value || *value < least || *value > most) return std::nullopt;
  return static_cast<int>(*value);
}

int YamlMap::integer(std::string_view key, int fallback, int least, int most) {
  const YAML::Node value = take(key);
  if (!value.IsDefined()) return fallback;
  const auto parsed = yaml_integer(value, least, most);
  if (!parsed) wrong(value, key, fmt::format("a whole number from {} to {}", least, most));
  return parsed.value_or(fallback);
}

double YamlMap::number(std::string_view key, double fallback, double least, double most) {
  const YAML::Node value = take(key);
  if (!value.IsDefined()) return fallback;
  const auto parsed = value.IsScalar() ? parse_double(value.Scalar()) : std::nullopt;
  const bool good = parsed && *parsed >= least && *parsed <= most;
  if (!good) wrong(value, key, fmt::format("a number from {} to {}", least, most));
  return good ? *parsed : fallback;
}

bool YamlMap::flag(std::string_view key, bool fallback) {
  const YAML::Node value = take(key);
  if (!value.IsDefined()) return fallback;
  const bool yes = value.IsScalar() && value.Scalar() == "true";
  if (!yes && !(value.IsScalar() && value.Scalar() == "false")) wrong(value, key, "true or false");
  return yes;
}

Rate YamlMap::rate(std::string_view key, Rate fallback) {
  const YAML::Node value = take(key);
  if (!value.IsDefined()) return fallback;
  const auto parsed = value.IsScalar() ? parse_rate(value.Scalar()) : std::nullopt;
  if (!parsed) wrong(value, key, R"(a rate with its unit, such as "400Gbps" or "25GB/s")");
  return parsed.value_or(fallback);
}

Time YamlMap::time(std::string_view key, Time fallback) {
  const YAML::Node value = take(key);
  if (!value.IsDefined()) return fallback;
  const auto parsed = value.IsScalar() ? parse_time(value.Scalar()) : std::nullopt;
  if (!parsed) wrong(value, key, R"(a time with its unit, such as "300ns" or "1.5us")");
  return parsed.value_or(fallback);
}

Bytes YamlMap::bytes(std::string_view key, Bytes fallback) {
  const YAML::Node value = take(key);
  if (!value.IsDefined()) return fallback;
  const auto parsed = value.IsScalar() ? parse_bytes(value.Scalar()) : std::nullopt;
  if (!parsed) wrong(value, key, R"(a size with its unit, such as "80GB" or "80GiB")");
  return parsed.value_or(fallback);
}

std::vector<std::string> YamlMap::texts(std::string_view key) {
  const YAML::Node value = take(key);
  std::vector<std::string> all;
  if (!value.IsDefined()) return all;
  if (value.IsScalar()) return {value.Scalar()};
  if (!value.IsSequence()) {
    wrong(value, key, "a text or a list of texts");
    return all;
  }
  for (const auto& item : value) {
    if (item.IsScalar()) all.push_back(item.Scalar());
    else wrong(item, key, "a list of texts");
  }
  return all;
}

std::vector<int> YamlMap::integers(std::string_view key, int least, int most) {
  const YAML::Node value = take(key);
  std::vector<int> all;
  if (!value.IsDefined()) return all;
  const std::string expected = fmt::format("whole numbers from {} to {}", least, most);
  if (const auto one = yaml_integer(value, least, most)) return {*one};
  if (!value.IsSequence()) {
    wrong(value, key, expected);
    return all;
  }
  for (const auto& item : value) {
    const auto number = yaml_integer(item, least, most);
    if (!number) wrong(item, key, expected);
    all.push_back(number.value_or(least));
  }
  return all;
}

void YamlMap::finish() {
  for (const Entry& entry : entries_)
    if (!entry.taken) file_->fail_unknown(entry.key_node, "key of " + what_, entry.key, asked_);
}

}  // namespace isleway
