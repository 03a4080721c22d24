#include "formats/live/pci_config.hpp"

#include <array>
#include <cstdint>

namespace isleway::formats {
namespace {

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 4; i > 0; --i)
    word = word << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  return word;
}

}  // namespace

std::optional<std::string> acs_control(std::string_view config) {
  constexpr std::size_t first = 0x100;
  constexpr std::uint32_t acs = 0x000d;
  static constexpr std::array<std::string_view, 7> flags = {
      "SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans"};
  std::size_t at = first;
  // Each capability takes four bytes at least: more steps than that are a loop.
  for (int step = 0; step < 1024 && at >= first && at + 8 <= config.size(); ++step) {
    const std::uint32_t header = word_at(config, at);
    if ((header & 0xffff) == acs) {
      const std::uint32_t control = word_at(config, at + 4) >> 16;
      std::string text;
      for (std::size_t i = 0; i < flags.size(); ++i)
        text +=
            std::string(i > 0 ? " " : "") + std::string(flags[i]) + (control >> i & 1 ? '+' : '-');
      return text;
    }
    at = header >> 20;
  }
  return std::nullopt;
}

}  // namespace isleway::formats
