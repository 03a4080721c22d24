// Values of a JSON document with the way that leads to them, for messages.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "isleway/core/error.hpp"

namespace isleway::formats {

/// A value that may be missing; knows what it is called. The document must outlive it.
class JsonCursor {
 public:
  JsonCursor(const nlohmann::json* value, std::string way, const std::string& file)
      : value_(value), way_(std::move(way)), file_(&file) {}

  bool exists() const { return value_ != nullptr && !value_->is_null(); }
  const std::string& way() const { return way_; }
  JsonCursor operator[](const char* key) const {
    const bool has = value_ != nullptr && value_->is_object() && value_->contains(key);
    return {has ? &(*value_)[key] : nullptr, way_.empty() ? key : way_ + "." + key, *file_};
  }
  std::size_t size() const { return value_ != nullptr && value_->is_array() ? value_->size() : 0; }
  /// Of a list.
  JsonCursor at(std::size_t i) const {
    return {i < size() ? &(*value_)[i] : nullptr, fmt::format("{}[{}]", way_, i), *file_};
  }

  /// Text, or `missing` where there is none.
  std::string text(std::string missing = {}) const {
    return exists() && value_->is_string() ? value_->get<std::string>() : missing;
  }
  bool flag(bool missing) const {
    return exists() && value_->is_boolean() ? value_->get<bool>() : missing;
  }
  /// Error: it is missing, no whole number, or out of range.
  Result<std::int64_t> number(std::int64_t least, std::int64_t most) const {
    if (exists() && value_->is_number_integer()) {
      // Unsigned numbers may be above what a signed one can hold.
      const bool large = value_->is_number_unsigned() &&
                         value_->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
      const std::int64_t value = large ? INT64_MAX : value_->get<std::int64_t>();
      if (value >= least && value <= most) return value;
    }
    if (least > most)
      return wrong(exists() ? "names one of a list that is empty" : std::string("is missing"));
    return wrong(exists() ? "is " + value_->dump().substr(0, 40) : std::string("is missing"),
                 fmt::format("a whole number from {} to {}", least, most));
  }
  Result<std::int64_t> number(std::int64_t least, std::int64_t most, std::int64_t missing) const {
    return exists() ? number(least, most) : Result<std::int64_t>(missing);
  }

  Location where() const { return {*file_, 0, 0}; }
  tl::unexpected<Error> wrong(const std::string& what, std::string expected = {}) const {
    return fail((way_.empty() ? std::string("the file") : way_) + " " + what, std::move(expected),
                {}, where());
  }

 private:
  const nlohmann::json* value_;
  std::string way_;
  const std::string* file_;
};

}  // namespace isleway::formats
