// Measurements held against what a machine should deliver, and what would explain them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isleway/formats.hpp"
#include "isleway/nccl.hpp"

namespace isleway::verify {

/// From best to worst; where nothing can be said, `unknown`.
enum class Verdict : std::uint8_t { good, unknown, warning, critical };
const char* name_of(Verdict verdict);

/// A measured value beside what is expected of the machine.
struct Point {
  enum class Kind : std::uint8_t { row, copy, latency } kind = Kind::row;
  std::string label;                  ///< "64M", "0 -> 3"
  std::int64_t bytes = 0;             ///< of a collective's row
  double measured = 0, expected = 0;  ///< us of rows and latencies; GB/s of copies
  double share = 0;                   ///< of the expected speed that was reached: 1 is as expected
  std::string choice;                 ///< "NVLS SIMPLE": what NCCL should have chosen
};

/// A fault or a setting under which the same machine, simulated, behaves as measured.
struct Cause {
  std::string key;    ///< "nvls-off"
  std::string title;  ///< "NVLS is not used"
  std::string remedy;
  double error = 0;                   ///< median of |simulated - measured| / measured
  std::vector<double> simulated;      ///< by point; 0 where nothing was simulated
  std::vector<std::string> evidence;  ///< what the log says for it
};

/// Where a curve is below what was expected: the points from `first` to `last`.
struct Departure {
  std::size_t first = 0, last = 0;
  double least = 0, most = 0;  ///< shares of the expected speed
};

/// One table.
struct Comparison {
  std::string title;  ///< "all_reduce float, 8 ranks"
  std::string unit;   ///< of the points' values: "us", "GB/s"
  int line = 0;       ///< where it starts in the file
  Verdict verdict = Verdict::unknown;
  std::string why;                 ///< the verdict in a sentence
  std::vector<std::string> notes;  ///< what was assumed
  std::vector<Point> points;
  double error = 0;  ///< median of |expected - measured| / measured
  std::optional<Departure> departure;
  std::vector<Cause>
      causes;  ///< best fit first; several mean that the curve cannot tell them apart
};

/// Something that the log itself says.
struct Finding {
  Verdict severity = Verdict::good;
  std::string text;
  int line = 0;
};

/// A machine, and how NCCL is set up on it.
struct Setup {
  Fabric fabric;
  nccl::Options options;
};

struct CompareContext {
  const Parts& parts;
  const Engine& engine;
  const formats::NcclInfo& log;  ///< of the same file; may be empty
};

/// Error: more ranks in the table than GPUs in the machine, an unknown collective, or what
/// NCCL says against such calls.
Result<Comparison> compare_table(const formats::NcclTestsTable& table, const Setup& setup,
                                 const CompareContext& context);

/// Every table of copies that this program can simulate; the names of the others go to `skipped`.
/// Error: more GPUs in the tables than in the machine.
Result<std::vector<Comparison>> compare_copies(const formats::CopyTables& tables,
                                               const Setup& setup, const CompareContext& context,
                                               std::vector<std::string>& skipped);

/// What the log says that does not fit the machine. Error: as Communicator::create.
Result<std::vector<Finding>> check_log(const Setup& setup, const CompareContext& context);

}  // namespace isleway::verify
