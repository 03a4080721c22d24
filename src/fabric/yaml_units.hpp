// Quantities as people write them in YAML: "400Gbps", "25GB/s", "300ns", "80GB".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isleway/core/units.hpp"

namespace isleway {

/// Bits ("400Gbps", "400Gb/s") or bytes ("25GB/s") per second, powers of 1000. A bare number
/// is refused: it would leave the reader to guess.
std::optional<Rate> parse_rate(std::string_view text);

/// "300ns", "1.5us", "2ms", "1s".
std::optional<Time> parse_time(std::string_view text);

/// "80GB" (powers of 1000), "80GiB" (powers of 1024).
std::optional<Bytes> parse_bytes(std::string_view text);

/// "mlx5_0..3" gives mlx5_0, mlx5_1, mlx5_2, mlx5_3; any other text itself. Nothing when the
/// range runs backwards or is longer than `limit`.
std::optional<std::vector<std::string>> expand_range(std::string_view text, std::size_t limit);

/// "0-3,8" as 32-bit words of a hexadecimal mask, most significant first, as sysfs and NCCL
/// write CPU sets: "0000010f". Nothing when the text is not such a list.
std::optional<std::string> cpu_list_to_mask(std::string_view list);

}  // namespace isleway
