// The formats of algorithms, one file each.
#pragma once

#include "isleway/formats/algorithm.hpp"

namespace isleway::formats {

Result<Algorithm> read_msccl_xml(std::string_view text, const std::string& file);
Result<Algorithm> read_mscclpp_plan(std::string_view text, const std::string& file);

/// Far above any file that a compiler of algorithms writes.
inline constexpr int kMostAlgorithmRanks = 4096;
inline constexpr int kMostAlgorithmChunks = 1 << 20;
inline constexpr std::size_t kMostAlgorithmSteps = 2'000'000;

}  // namespace isleway::formats
