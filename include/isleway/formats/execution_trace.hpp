// Chakra execution traces: what one rank of a job computes and communicates, after what.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "isleway/core/error.hpp"

namespace isleway::formats {

struct TraceNode {
  enum class Kind : std::uint8_t { nothing, compute, memory, send, receive, collective };
  /// As the schema numbers them.
  enum class Collective : std::uint8_t {
    all_reduce,
    reduce,
    all_gather,
    gather,
    scatter,
    broadcast,
    all_to_all,
    reduce_scatter,
    reduce_scatter_block,
    barrier
  };

  std::uint64_t id = 0;
  std::string name;
  Kind kind = Kind::nothing;
  std::vector<std::uint64_t> after;  ///< ids, control and data alike
  std::uint64_t duration_us = 0;     ///< measured; 0: not known
  bool on_cpu = false;
  std::int64_t operations = 0;    ///< arithmetic of a compute node, where it was not measured
  std::int64_t tensor_bytes = 0;  ///< that it moves through memory
  Collective collective = Collective::all_reduce;
  std::int64_t bytes = 0;        ///< of a message; of a collective, what one rank gives
  int source = -1, target = -1;  ///< ranks at the ends of a message; -1: not named
  int tag = 0, root = 0;
  std::string group;  ///< process group; empty: all ranks
};

struct ExecutionTrace {
  std::string file, version;
  std::vector<TraceNode> nodes;  ///< in the order of the file
};

/// The file's bytes, as Chakra's tools write them: messages of Protocol Buffers, each after its
/// length (github.com/mlcommons/chakra, schema/protobuf/et_def.proto). Error: damage, and at
/// which byte.
Result<ExecutionTrace> read_execution_trace(std::string_view data, const std::string& file);

}  // namespace isleway::formats
