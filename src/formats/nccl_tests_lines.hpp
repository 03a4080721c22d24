// The kinds of line that nccl-tests prints, in every version since 2017.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isleway/formats.hpp"

namespace isleway::formats {

/// What the heading over a table says of its columns.
struct NcclTestsColumns {
  bool redop = false, root = false;
  int in_between = 0;         ///< further numbers after each side (per-iteration statistics)
  bool milliseconds = false;  ///< the first version (2017) printed times so
  bool has_sides = false;     ///< the heading was not cut before "busbw"
};

/// "# size count type redop root time algbw busbw #wrong ..." and, in 2017, "# bytes N type".
std::optional<NcclTestsColumns> parse_nccl_tests_heading(std::string_view line);

/// "#  Rank  0 Group  0 Pid 1234 on node1 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3"
struct NcclTestsRank {
  int rank = 0;
  std::string host, device;
};
std::optional<NcclTestsRank> parse_nccl_tests_rank(std::string_view line);

/// "all_reduce" where a line names the program, as "./build/all_reduce_perf -b 8" does.
std::string_view nccl_tests_program(std::string_view line);

/// 22105 is 2.21.5; up to 2.8 it was 2804 for 2.8.4.
std::string nccl_version_of(std::int64_t code);

/// The version behind "NCCL version 2.21.5+cuda12.4" or "nccl-library=22105"; may be empty.
std::string nccl_version_in(std::string_view line);

/// One row, as far as the file has it. Other processes print into the middle of rows, and
/// terminals wrap them, so a row may go on in a later line.
class NcclTestsRowReader {
 public:
  /// Nothing when `line` does not start a row. `columns` is null before any heading.
  static std::optional<NcclTestsRowReader> start(std::string_view line,
                                                 const NcclTestsColumns* columns);
  /// True when `line` holds numbers that the row lacks, which it takes.
  bool continues(std::string_view line);
  bool is_complete() const;
  /// The row, with whatever sides are complete.
  NcclTestsRow row() const;

 private:
  std::size_t side_width() const { return 4 + static_cast<std::size_t>(columns_.in_between); }
  std::optional<NcclTestsRow::Side> side_at(std::size_t first) const;
  void take_numbers(const std::vector<std::string_view>& words, std::size_t from);

  NcclTestsColumns columns_;
  bool has_heading_ = false;
  bool in_place_only_ = false;
  NcclTestsRow row_;
  std::vector<std::string> numbers_;  ///< after the type and the redop
};

}  // namespace isleway::formats
