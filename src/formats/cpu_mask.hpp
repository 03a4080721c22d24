// Sets of CPU numbers, in the ways in which tools write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isleway::formats {

class CpuMask {
 public:
  /// More CPUs than any host has; what names a higher number is damage.
  static constexpr std::size_t kMostCpus = 16'384;

  CpuMask() = default;
  /// "0000ffff,ff000000": 32-bit words, the highest first, as NCCL and Linux write masks.
  /// hwloc's "0x00000303,,0x1" is understood too. Nothing when a word is no hex number.
  static std::optional<CpuMask> from_words(std::string_view text);
  /// "0-55,112-167". Nothing when a piece is no number or range.
  static std::optional<CpuMask> from_ranges(std::string_view text);

  bool empty() const { return words_.empty(); }
  bool overlaps(const CpuMask& other) const;
  void add(const CpuMask& other);

  /// As NCCL's XML has it: at least one word, each of eight digits. Empty for no CPU.
  std::string words() const;
  /// As `nvidia-smi topo -m` has it. Empty for no CPU.
  std::string ranges() const;

 private:
  void set(std::size_t cpu);
  void trim();
  std::vector<std::uint32_t> words_;  ///< the lowest first, no zero word at the end
};

}  // namespace isleway::formats
