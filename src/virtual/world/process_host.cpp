#include "virtual/world/process_host.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "isleway/core/text.hpp"

namespace isleway::vgpu {
namespace {

std::optional<int> number(const char* name) {
  const char* text = std::getenv(name);
  const auto value = text == nullptr ? std::nullopt : parse_int(text);
  if (!value || *value < 0 || *value > 1'000'000) return std::nullopt;
  return static_cast<int>(*value);
}

}  // namespace

std::optional<LaunchedRank> launched_rank() {
  constexpr std::pair<const char*, const char*> variables[] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"PMI_RANK", "PMI_SIZE"},
      {"SLURM_PROCID", "SLURM_NTASKS"},
      {"RANK", "WORLD_SIZE"},
  };
  for (const auto& [rank_name, size_name] : variables) {
    const auto rank = number(rank_name), ranks = number(size_name);
    if (rank && ranks && *rank < *ranks) return LaunchedRank{*rank, *ranks};
  }
  return std::nullopt;
}

std::uint32_t launched_place(std::uint32_t places) {
  if (places < 2) return 0;
  if (const auto host = number("ISLEWAY_HOST"))
    return std::min(static_cast<std::uint32_t>(*host), places - 1);
  const auto launched = launched_rank();
  if (!launched) return 0;
  return static_cast<std::uint32_t>(std::uint64_t(launched->rank) * places / launched->ranks);
}

std::uint64_t start_ticks(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return 0;
  // The name, in brackets, may hold anything; the start is the 20th word after it.
  const std::size_t name_end = text.rfind(')');
  if (name_end == text.npos) return 0;
  const auto words = split_words(std::string_view(text).substr(name_end + 1));
  if (words.size() < 20 || words[0] == "Z" || words[0] == "X") return 0;
  return static_cast<std::uint64_t>(parse_int(words[19]).value_or(0));
}

}  // namespace isleway::vgpu
