// XML as people hand it over: cut off, pasted between other lines, or damaged.
#pragma once

#include <pugixml.hpp>
#include <string_view>
#include <vector>

#include "formats/notebook.hpp"

namespace isleway::formats {

/// Where the first element of this name starts outside comments; npos when there is none.
std::size_t find_element(std::string_view text, std::string_view name);

/// One parsed element of a text, which must outlive it.
class XmlText {
 public:
  /// Parses the first element `root`; what stands around it is left out. Of a text that ends
  /// too early all complete elements are kept, with a notice. Error: no such element, damage
  /// in the middle, or more than kMostBytes.
  static Result<XmlText> parse(std::string_view text, const char* root, Notebook& notes);

  pugi::xml_node root() const { return root_; }
  /// Line of the whole text on which the element starts.
  int line(pugi::xml_node node) const;

  /// Deeper nesting than this is no machine; readers that recurse stop there.
  static constexpr int kMostDepth = 64;
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

 private:
  int line_at(std::size_t offset) const;
  pugi::xml_document document_;
  pugi::xml_node root_;
  std::size_t start_ = 0;  ///< of the parsed part in the text
  std::vector<std::size_t> line_ends_;
};

/// An attribute's number, 0x... read as hex, kept within an int; `fallback` where the
/// attribute is missing or no number.
int int_attribute(pugi::xml_node node, const char* name, int fallback);

}  // namespace isleway::formats
