#include "formats/hwloc_distances.hpp"

#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr std::size_t kMostObjects = 1024;

/// The words of all children of this name: hwloc cuts long lists into several.
std::vector<std::string_view> words_of(pugi::xml_node matrix, const char* name) {
  std::vector<std::string_view> words;
  for (const pugi::xml_node part : matrix.children(name))
    for (const std::string_view word : split_words(part.child_value())) words.push_back(word);
  return words;
}

}  // namespace

std::optional<HwlocMatrix> find_hwloc_matrix(pugi::xml_node topology, std::string_view name) {
  for (const pugi::xml_node node : topology.children()) {
    if (!std::string_view(node.name()).starts_with("distances2") ||
        node.attribute("name").value() != name)
      continue;
    HwlocMatrix matrix;
    for (std::string_view word : words_of(node, "indexes")) {
      word = word.substr(word.find(':') + 1);  // "OSDev:332" where kinds are mixed
      const auto index = parse_int(word);
      if (!index || matrix.objects.size() >= kMostObjects) return std::nullopt;
      matrix.objects.push_back(*index);
    }
    for (const std::string_view word : words_of(node, "u64values")) {
      const auto value = parse_double(word);
      if (!value) return std::nullopt;
      matrix.values.push_back(*value);
    }
    if (matrix.values.size() != matrix.objects.size() * matrix.objects.size()) return std::nullopt;
    return matrix;
  }
  return std::nullopt;
}

}  // namespace isleway::formats
