// Collective algorithms that other tools wrote down: MSCCL's XML, MSCCL++'s execution plans.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "isleway/core/error.hpp"

namespace isleway::formats {

/// Chunks of a rank's memory.
struct AlgorithmPlace {
  enum class Buffer : std::uint8_t { none, input, output, scratch };
  Buffer buffer = Buffer::none;
  int chunk = 0;
};

/// One step of a stream, all of it on the same chunks: waits for a message from each of
/// `recv`, reduces them and what lies at `source`, keeps the result at `store`, sends it to
/// each of `send`. Without chunks it is a signal.
struct AlgorithmStep {
  AlgorithmPlace source, store;
  int chunks = 0;
  /// Of these chunks, this part of so many equal ones.
  int part = 0, parts = 1;
  std::vector<int> recv, send;  ///< numbers of streams
  int line = 0;                 ///< 0: not known
};

/// Steps that are done once for each `unit_bytes` of `chunks`, on those bytes alone.
struct AlgorithmLoop {
  std::size_t first = 0, count = 0;
  int chunks = 0;
  std::int64_t unit_bytes = 0;
};

/// A threadblock, or what answers to one at the other end of what it does on its own.
struct AlgorithmStream {
  int rank = 0;  ///< kSwitch: in the network
  std::vector<AlgorithmStep> steps;
  std::vector<AlgorithmLoop> loops;  ///< in order, not inside one another

  static constexpr int kSwitch = -1;
};

struct Algorithm {
  std::string format, file, name;
  std::string collective;  ///< as the file names it: "allreduce"
  std::string protocol;    ///< "Simple", "LL", "LL128"
  bool in_place = false;
  /// Reads and writes other ranks' memory without their help, so that nothing waits for room.
  bool one_sided = false;
  int ranks = 0, channels = 1;
  int chunks = 1;  ///< of the larger of what a rank sends and receives in all
  int input_chunks = 0, output_chunks = 0;
  std::vector<int> scratch_chunks;  ///< by rank
  /// Sizes that it is meant for.
  std::int64_t min_bytes = 0, max_bytes = INT64_MAX;
  std::vector<AlgorithmStream> streams;
};

/// Told apart by content; `file` is for messages. Error: neither format, damage, or steps that
/// make no sense, with their place.
Result<Algorithm> read_algorithm(std::string_view text, const std::string& file);

}  // namespace isleway::formats
