// What all tests of readers and writers need.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "isleway/formats.hpp"

namespace isleway::formats {

inline const Catalogue& catalogue() {
  static const Catalogue all = [] {
    auto opened = Catalogue::open(std::string(ISLEWAY_SOURCE_DIR) + "/machines");
    if (!opened) throw std::runtime_error(opened.error().text());
    return *std::move(opened);
  }();
  return all;
}

inline ReadContext context_for(std::string gpu = {}) {
  ReadContext context;
  context.catalogue = &catalogue();
  context.file = "input.txt";
  context.gpu = std::move(gpu);
  return context;
}

inline Result<Document> read_with(const Reader& reader, std::string_view text,
                                  std::string gpu = {}) {
  return reader.read(text, context_for(std::move(gpu)));
}

/// The machine that `text` describes; fails the test where it describes none.
inline std::shared_ptr<const Unit> machine(const Reader& reader, std::string_view text,
                                           std::string gpu = {}) {
  const auto document = read_with(reader, text, std::move(gpu));
  if (!document) throw std::runtime_error(document.error().text());
  return std::get<std::shared_ptr<const Unit>>(document->content);
}

inline std::string written(const char* writer, const std::shared_ptr<const Unit>& unit,
                           const WriteOptions& options = {}) {
  const auto text = find_writer(writer)->write(Fabric::single(unit).value(), options);
  if (!text) throw std::runtime_error(text.error().text());
  return *text;
}

inline bool has_notice(const Document& document, std::string_view part) {
  for (const Notice& notice : document.notices)
    if (notice.text.find(part) != std::string::npos) return true;
  return false;
}

/// The link of a kind between two devices of one host, by name; null when there is none.
inline const Link* link_between(const Unit& unit, LinkKind kind, std::string_view a,
                                std::string_view b, int host = 0) {
  const auto from = unit.find(a, host);
  if (!from) return nullptr;
  for (const std::uint32_t number : unit.links_at(*from))
    if (unit.link(number).kind == kind && unit.device(unit.peer(number, *from)).name == b)
      return &unit.link(number);
  return nullptr;
}

}  // namespace isleway::formats
