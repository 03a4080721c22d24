// Bench results as nccl-tests prints them, and as JSON.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "isleway/nccl.hpp"

namespace isleway::report {

/// One call over a range of sizes: the machine, the choices, and the rows.
struct BenchRun {
  std::string machine;
  Collective collective = Collective::all_reduce;
  nccl::DataType type;
  std::string reduction = "sum";  ///< as given; "none" is printed where there is none
  int root = 0;
  int ranks = 0, nodes = 0;
  std::string engine, nccl_version;
  bool announced = false;  ///< the machine is not sold yet
  /// Sizes for which such machines were measured; nothing where none was.
  std::optional<nccl::MeasuredRange> measured;
  std::vector<nccl::BenchRow> rows;

  /// Outside of what the times were held against.
  bool is_extrapolated(std::int64_t bytes) const {
    return announced || !measured || !measured->holds(bytes);
  }
  const char* shown_reduction() const {
    return nccl::takes_reduction(collective) ? reduction.c_str() : "none";
  }
  int shown_root() const { return nccl::takes_root(collective) ? root : -1; }
};

/// The machine is announced, not sold: its figures are its vendor's.
bool is_announced(const Fabric& fabric);

/// What nccl-tests' command line says; only its heading shows these.
struct NcclTestsSettings {
  nccl::SizeRange range;        ///< cut to what fits into memory
  std::int64_t asked_last = 0;  ///< -e as given
  int gpus_per_process = 1, iterations = 20, warmup = 1, check = 0, graph = 0;
};

/// Columns behind those of nccl-tests, where its -S puts a time stamp.
struct ExtraColumns {
  bool estimate = false;  ///< what NCCL's own tuning model expects
  bool choices = false;   ///< algorithm, protocol, channels, bottleneck
};

/// "alltoall_perf": the program of nccl-tests that measures a collective.
std::string nccl_tests_program(Collective collective);

/// NCCL_VERSION_CODE: 22809 for "2.28.9".
int version_code(const std::string& version);

/// Lines up to and including the column titles; what nccl-tests has no line for is said in
/// comment lines of our own.
std::string nccl_tests_heading(const BenchRun& run, const NcclTestsSettings& settings,
                               const Fabric& fabric, const Parts& parts, ExtraColumns extra = {});
std::string nccl_tests_row(const BenchRun& run, const nccl::BenchRow& row, ExtraColumns extra = {});
/// Comment lines below a row: what all links counted, and the links with the most replays. Empty
/// without counters.
std::string counter_lines(const nccl::BenchRow& row);
/// Over all rows, as nccl-tests' last line has it.
double average_busbw(std::span<const BenchRun> runs);
std::string nccl_tests_footer(Collective collective, double average_busbw);

/// Out-of-place times of runs that differ in nothing but the engine, in comment lines, with what
/// each differs by from the last; empty where there is one engine.
std::string engines_side_by_side(std::span<const BenchRun> runs);

/// busbw over size, drawn in comment lines; empty when there are not two rows to draw.
std::string busbw_plot(const BenchRun& run);

/// The same as a picture, one curve a run; empty when there is none to draw.
std::string busbw_svg(std::span<const BenchRun> runs);

/// The file that nccl-tests writes with -J (version 3 of it), of runs that share a collective.
/// Times of day are null: a simulation has none.
std::string nccl_tests_json(std::span<const BenchRun> runs, const NcclTestsSettings& settings,
                            const Fabric& fabric, const Parts& parts,
                            const std::map<std::string, std::string>& env);

/// An object for one run, an array for several (or none); see docs/json.md.
std::string bench_json(std::span<const BenchRun> runs);

}  // namespace isleway::report
