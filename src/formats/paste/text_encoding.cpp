#include "formats/paste/text_encoding.hpp"

#include <algorithm>
#include <cstdint>

#include "formats/lookalikes.hpp"

namespace isleway::formats {
namespace {

void append_utf8(std::uint32_t c, std::string& out) {
  const auto byte = [&](std::uint32_t bits) { out += static_cast<char>(bits); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xc0 | c >> 6);
    byte(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    byte(0xe0 | c >> 12);
    byte(0x80 | (c >> 6 & 0x3f));
    byte(0x80 | (c & 0x3f));
  } else {
    byte(0xf0 | c >> 18);
    byte(0x80 | (c >> 12 & 0x3f));
    byte(0x80 | (c >> 6 & 0x3f));
    byte(0x80 | (c & 0x3f));
  }
}

std::string from_utf16(std::string_view bytes, bool big) {
  const auto unit = [&](std::size_t i) -> std::uint32_t {
    const auto a = static_cast<unsigned char>(bytes[i]);
    const auto b = static_cast<unsigned char>(bytes[i + 1]);
    return big ? static_cast<std::uint32_t>(a << 8 | b) : static_cast<std::uint32_t>(b << 8 | a);
  };
  std::string out;
  for (std::size_t i = 2; i + 1 < bytes.size(); i += 2) {
    std::uint32_t c = unit(i);
    const bool high = c >= 0xd800 && c < 0xdc00;
    if (high && i + 3 < bytes.size() && (unit(i + 2) & 0xfc00) == 0xdc00) {
      c = 0x10000 + ((c & 0x3ff) << 10) + (unit(i + 2) & 0x3ff);
      i += 2;
    } else if ((c & 0xf800) == 0xd800) {
      c = '?';
    }
    append_utf8(c, out);
  }
  return out;
}

/// Bytes of the valid UTF-8 sequence at the start of `text`; 0 when there is none.
std::size_t sequence_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 && first < 0xf5   ? 4
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xc2 && first < 0xe0 ? 2
                                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (first == 0xe0 && at(1) < 0xa0) || (first == 0xf0 && at(1) < 0x90);
  const bool beyond = (first == 0xed && at(1) >= 0xa0) || (first == 0xf4 && at(1) >= 0x90);
  return overlong || beyond ? 0 : length;
}

}  // namespace

Result<std::string> to_text(std::string_view content, const std::string& file) {
  using namespace std::string_view_literals;
  if (content.starts_with("\xff\xfe"sv)) return from_utf16(content, false);
  if (content.starts_with("\xfe\xff"sv)) return from_utf16(content, true);
  const auto is_control = [](char c) {
    return (c >= 0 && c < '\t') || (c > '\r' && c < ' ' && c != '\x1b');
  };
  const auto is_plain = [](char c) { return c > 0; };
  const Lookalike* binary = find_binary(content);
  if (!binary && std::all_of(content.begin(), content.end(), is_plain)) return std::string(content);
  const auto controls =
      static_cast<std::size_t>(std::count_if(content.begin(), content.end(), is_control));
  if (binary && controls * 50 >= content.size())
    return fail(binary->what, "text", binary->hint, {file});
  std::string text;
  text.reserve(content.size());
  for (std::size_t i = 0; i < content.size();) {
    const std::size_t length = sequence_length(content.substr(i, 4));
    if (length == 0) text += '?';
    else if (content[i] != '\0') text.append(content, i, length);
    i += std::max<std::size_t>(length, 1);
  }
  return text;
}

std::optional<std::string> without_escapes(std::string_view text) {
  constexpr int kFewest = 4;
  int ends = 0;
  for (std::size_t at = text.find("\\n"); at != std::string_view::npos && ends < kFewest;
       at = text.find("\\n", at + 2))
    ++ends;
  if (ends < kFewest) return std::nullopt;
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : '\0';
    switch (next) {
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case 'r': break;
      case '"':
      case '/':
      case '\\': out += next; break;
      // Where a string begins, what was printed begins on a line of its own.
      default: out += text[i] == '"' ? '\n' : text[i]; continue;
    }
    ++i;
  }
  return out;
}

std::string_view start_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace isleway::formats
