#include "formats/xml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr std::string_view kCommentStart = "<!--", kCommentEnd = "-->";

/// The element's end tag, or the end of the text where there is none.
std::size_t end_of_element(std::string_view text, std::string_view name) {
  const std::string tag = fmt::format("</{}>", name);
  const std::size_t end = text.find(tag);
  return end == std::string_view::npos ? text.size() : end + tag.size();
}

/// True when the parser stopped because the text did, and not at something wrong in it.
bool is_cut(const pugi::xml_parse_result& result, std::string_view text) {
  if (result.status == pugi::status_bad_comment || result.status == pugi::status_bad_cdata)
    return true;
  const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0));
  return text.find('<', std::min(offset, text.size())) == std::string_view::npos;
}

}  // namespace

std::size_t find_element(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find('<'); at != std::string_view::npos;) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with(kCommentStart)) {
      const std::size_t end = text.find(kCommentEnd, at + kCommentStart.size());
      if (end == std::string_view::npos) return end;
      at = text.find('<', end);
      continue;
    }
    const std::size_t after = 1 + name.size();
    if (rest.substr(1, name.size()) == name &&
        (rest.size() == after ||
         std::string_view(" \t\r\n/>").find(rest[after]) != std::string_view::npos))
      return at;
    at = text.find('<', at + 1);
  }
  return std::string_view::npos;
}

Result<XmlText> XmlText::parse(std::string_view text, const char* root, Notebook& notes) {
  XmlText xml;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') xml.line_ends_.push_back(i);
  xml.start_ = find_element(text, root);
  if (xml.start_ == std::string_view::npos)
    return fail(fmt::format("has no element <{}>", root), {}, {}, notes.at(0));
  std::string_view element = text.substr(xml.start_);
  element = element.substr(0, end_of_element(element, root));
  if (element.size() > kMostBytes)
    return fail(fmt::format("holds {} MiB of XML", element.size() >> 20),
                fmt::format("at most {} MiB, far more than any machine needs", kMostBytes >> 20),
                {}, notes.at(0));
  if (find_element(text.substr(xml.start_ + element.size()), root) != std::string_view::npos)
    notes.skipped(fmt::format("a second <{}> follows: only the first is read", root));

  const pugi::xml_parse_result result = xml.document_.load_buffer(
      element.data(), element.size(), pugi::parse_default, pugi::encoding_utf8);
  xml.root_ = xml.document_.child(root);
  if (result) return xml;
  const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0));
  const int line = xml.line_at(xml.start_ + offset);
  if (xml.root_ && is_cut(result, element)) {
    notes.incomplete("the text ends here in the middle: what stands before is used", line);
    return xml;
  }
  const std::size_t line_start =
      line > 1 ? xml.line_ends_[static_cast<std::size_t>(line - 2)] + 1 : 0;
  const auto column = static_cast<int>(xml.start_ + offset - line_start + 1);
  return fail(fmt::format("is damaged here: {}", result.description()), "well-formed XML",
              "write the file again; what was copied by hand easily loses a tag or a quote",
              notes.at(line, column));
}

int XmlText::line_at(std::size_t offset) const {
  const auto before = std::lower_bound(line_ends_.begin(), line_ends_.end(), offset);
  return static_cast<int>(before - line_ends_.begin()) + 1;
}

int XmlText::line(pugi::xml_node node) const {
  const std::ptrdiff_t offset = node.offset_debug();
  return offset < 0 ? 0 : line_at(start_ + static_cast<std::size_t>(offset));
}

int int_attribute(pugi::xml_node node, const char* name, int fallback) {
  const std::string_view text = trim(node.attribute(name).value());
  const auto value = parse_int(text, starts_with_ignoring_case(text, "0x") ? 16 : 10);
  if (!value) return fallback;
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp<std::int64_t>(*value, -most, most));
}

}  // namespace isleway::formats
