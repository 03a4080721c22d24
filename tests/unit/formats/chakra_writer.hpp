// Writes execution traces as Chakra's tools do, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace isleway::formats {

class ChakraWriter {
 public:
  using Numbers = std::vector<std::pair<std::string, std::int64_t>>;

  void metadata(const std::string& version) { append(text(1, version)); }

  /// `type` as the schema numbers it. Without a duration none is written.
  void node(std::uint64_t id, const std::string& name, std::uint64_t type,
            const std::vector<std::uint64_t>& after, std::uint64_t duration_us,
            const Numbers& attributes = {}, const std::string& group = "") {
    std::string message = number(1, id) + text(2, name) + number(3, type);
    std::string packed;
    for (const std::uint64_t before : after) packed += varint(before);
    if (!packed.empty()) message += text(5, packed);
    if (duration_us > 0) message += number(7, duration_us);
    for (const auto& [key, value] : attributes)
      message += text(10, text(1, key) + number(9, static_cast<std::uint64_t>(value)));
    if (!group.empty()) message += text(10, text(1, "pg_name") + text(29, group));
    append(message);
  }

  const std::string& data() const { return data_; }

 private:
  static std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    return bytes + static_cast<char>(value);
  }
  static std::string number(std::uint64_t field, std::uint64_t value) {
    return varint(field << 3) + varint(value);
  }
  static std::string text(std::uint64_t field, const std::string& value) {
    return varint(field << 3 | 2) + varint(value.size()) + value;
  }
  void append(const std::string& message) { data_ += varint(message.size()) + message; }

  std::string data_;
};

}  // namespace isleway::formats
