// Protocol Buffers' wire format (protobuf.dev/programming-guides/encoding), as far as reading a
// few messages of a known schema takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace isleway::formats {

/// One field of a message.
struct WireField {
  enum class Type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  std::uint32_t number = 0;
  Type type = Type::varint;
  std::uint64_t value = 0;  ///< of the numbers, as the bits lie
  std::string_view bytes;
};

/// Reads from left to right. Whatever the bytes are, it ends.
class WireReader {
 public:
  explicit WireReader(std::string_view data) : data_(data) {}

  bool at_end() const { return at_ >= data_.size(); }
  /// Where the next byte lies; after damage, where that is.
  std::size_t position() const { return at_; }
  bool damaged() const { return damaged_; }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ < data_.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(data_[at_++]);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    damaged_ = true;
    return std::nullopt;
  }

  /// As many bytes as the number before them says.
  std::optional<std::string_view> delimited() {
    const auto length = varint();
    if (!length) return std::nullopt;
    if (*length > data_.size() - at_) {
      damaged_ = true;
      return std::nullopt;
    }
    const std::string_view bytes = data_.substr(at_, *length);
    at_ += *length;
    return bytes;
  }

  /// Nothing at the end, or where the rest is damaged.
  std::optional<WireField> field() {
    if (at_end()) return std::nullopt;
    const auto key = varint();
    if (!key) return std::nullopt;
    WireField field;
    field.number = static_cast<std::uint32_t>(*key >> 3);
    field.type = static_cast<WireField::Type>(*key & 7);
    switch (field.type) {
      case WireField::Type::varint:
        if (const auto value = varint()) return field.value = *value, field;
        return std::nullopt;
      case WireField::Type::bytes:
        if (const auto bytes = delimited()) return field.bytes = *bytes, field;
        return std::nullopt;
      case WireField::Type::fixed64: return fixed(field, 8);
      case WireField::Type::fixed32: return fixed(field, 4);
    }
    damaged_ = true;  // groups, which nobody writes any more, or nonsense
    return std::nullopt;
  }

 private:
  std::optional<WireField> fixed(WireField field, std::size_t size) {
    if (data_.size() - at_ < size) {
      damaged_ = true;
      return std::nullopt;
    }
    for (std::size_t i = 0; i < size; ++i)
      field.value |= std::uint64_t{static_cast<unsigned char>(data_[at_ + i])} << (8 * i);
    at_ += size;
    return field;
  }

  std::string_view data_;
  std::size_t at_ = 0;
  bool damaged_ = false;
};

}  // namespace isleway::formats
