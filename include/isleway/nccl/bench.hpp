// What nccl-tests measures: a collective, one size after another, on a communicator.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isleway/engine/changed_wiring.hpp"
#include "isleway/nccl/communicator.hpp"

namespace isleway::nccl {

/// An element type as nccl-tests' -d names it.
struct DataType {
  const char* name = "float";
  int bytes = 4;
};
std::span<const DataType> data_types();
Result<DataType> parse_data_type(std::string_view text);

/// "sum", "prod", ...: reductions move the same bytes, so only their names matter here.
std::span<const char* const> reductions();
Result<const char*> parse_reduction(std::string_view text);
/// False where nccl-tests prints "none" whatever -o says.
bool takes_reduction(Collective collective);
/// False where nccl-tests prints root -1 whatever -r says.
bool takes_root(Collective collective);

/// nccl-tests' -b -e -i -f: from `first` to `last`, times `factor` if that is more than 1,
/// else plus `step`; or the sizes of a list.
struct SizeRange {
  std::int64_t first = 8;
  std::int64_t last = std::int64_t{8} << 30;
  std::int64_t step = std::int64_t{1} << 20;
  std::int64_t factor = 2;
  std::vector<std::int64_t> list = {};  ///< where it is not empty, instead of all that

  /// Error: an empty range, or one of more than 100,000 sizes.
  Result<std::vector<std::int64_t>> sizes() const;
};

/// A size as nccl-tests rounds it: equal blocks of whole 16-byte words for every rank where
/// the collective divides the data among them.
struct BenchSize {
  std::int64_t bytes = 0;  ///< the "size" column
  std::int64_t count = 0;  ///< the "count" column
};
BenchSize bench_size(Collective collective, std::int64_t bytes, int element_bytes, int ranks);

/// The largest size that fits into a GPU of `memory` as nccl-tests reckons it: two buffers (a
/// third for checking), with room left for NCCL and the driver.
std::int64_t largest_size(Bytes memory, bool check);

/// `range` cut to what fits into the smallest GPU; as it is where memory sizes are not known.
SizeRange fit_into_memory(const SizeRange& range, const Fabric& fabric, const Parts& parts,
                          bool check);

struct BenchCall {
  Collective collective = Collective::all_reduce;
  DataType type;
  int root = 0;
  std::optional<Algorithm> algorithm;  ///< forced
  std::optional<Protocol> protocol;
  bool check = false;        ///< run the schedule on numbers too, where memory allows
  int iterations = 20;       ///< calls one after the other, of which nccl-tests prints the average
  bool in_place = false;     ///< also time it in place; else the row has the same twice
  Repricing repricing = {};  ///< for what-ifs: other prices than the machine has
  /// Instead of what NCCL would choose; of this collective. Sizes are rounded to its chunks.
  const formats::Algorithm* program = nullptr;
};

struct BenchSpeed {
  Time time;
  double algbw_GBs = 0, busbw_GBs = 0;
};

/// What one direction of a link counted.
struct NamedCounters {
  std::string link;
  bool forward = true;
  link::Counters counters;
};

/// What a call takes once all ranks are in.
struct CallTimes {
  Time complete;  ///< until its results are there
  Time next;      ///< until the next call may begin
  Time host;      ///< of each process's thread, for the call and its launches
};
CallTimes call_times(const Communicator& communicator, const CollectiveCall& call,
                     const Decision& decision, const Outcome& outcome);

/// Out of place, as all is that is not said to be in place.
struct BenchRow : BenchSpeed {
  BenchSize size;
  BenchSpeed in_place;
  /// Nothing for a size of 0, for which NCCL does nothing.
  std::optional<Decision> decision;
  std::string program;                  ///< the file's algorithm by name, where one was given
  std::optional<LinkLoad> busiest;      ///< link; nothing where none was used
  std::string bottleneck;               ///< that link by name, or empty
  double latency_share = 0;             ///< of the time: latency and overhead, 0 to 1
  bool limited_by_sender = false;       ///< the GPUs' own threads are slower than that link
  std::vector<NamedCounters> counters;  ///< of engines that know packets
  bool checked = false;                 ///< every rank was proved to end with the right data
};

/// One row. `fabric` may have links of other rates than the one that the communicator was made
/// for; its choice stays. Error: NCCL's or the engine's reason, or wrong data.
Result<BenchRow> bench(const Fabric& fabric, const Communicator& communicator, const Engine& engine,
                       const BenchCall& call, std::int64_t bytes);

}  // namespace isleway::nccl
