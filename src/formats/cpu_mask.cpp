#include "formats/cpu_mask.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "isleway/core/text.hpp"

namespace isleway::formats {

std::optional<CpuMask> CpuMask::from_words(std::string_view text) {
  std::vector<std::string_view> pieces = split(text, ',');
  if (pieces.size() > kMostCpus / 32) return std::nullopt;
  CpuMask mask;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    const std::string_view word = isleway::trim(*piece);
    const auto value = word.empty() ? std::optional<std::int64_t>(0) : parse_int(word, 16);
    if (!value || *value < 0 || *value > 0xffffffff) return std::nullopt;
    mask.words_.push_back(static_cast<std::uint32_t>(*value));
  }
  mask.trim();
  return mask;
}

std::optional<CpuMask> CpuMask::from_ranges(std::string_view text) {
  CpuMask mask;
  for (const std::string_view piece : split(text, ',')) {
    const std::size_t dash = piece.find('-');
    const auto first = parse_int(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int(piece.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first ||
        *last >= static_cast<std::int64_t>(kMostCpus))
      return std::nullopt;
    for (std::int64_t cpu = *first; cpu <= *last; ++cpu) mask.set(static_cast<std::size_t>(cpu));
  }
  return mask;
}

void CpuMask::set(std::size_t cpu) {
  if (words_.size() <= cpu / 32) words_.resize(cpu / 32 + 1);
  words_[cpu / 32] |= std::uint32_t{1} << (cpu % 32);
}

void CpuMask::trim() {
  while (!words_.empty() && words_.back() == 0) words_.pop_back();
}

bool CpuMask::overlaps(const CpuMask& other) const {
  for (std::size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i)
    if (words_[i] & other.words_[i]) return true;
  return false;
}

void CpuMask::add(const CpuMask& other) {
  words_.resize(std::max(words_.size(), other.words_.size()));
  for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
}

std::string CpuMask::words() const {
  std::string text;
  for (auto word = words_.rbegin(); word != words_.rend(); ++word)
    text += fmt::format("{}{:08x}", text.empty() ? "" : ",", *word);
  return text;
}

std::string CpuMask::ranges() const {
  std::string text;
  const std::size_t end = words_.size() * 32;
  const auto has = [&](std::size_t cpu) { return cpu < end && (words_[cpu / 32] >> cpu % 32 & 1); };
  for (std::size_t cpu = 0; cpu < end; ++cpu) {
    if (!has(cpu)) continue;
    const std::size_t first = cpu;
    while (has(cpu + 1)) ++cpu;
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (cpu > first) text += fmt::format("-{}", cpu);
  }
  return text;
}

}  // namespace isleway::formats
