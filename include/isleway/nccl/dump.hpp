// What NCCL writes about its choices, in its own forms, to hold against a real run.
#pragma once

#include "isleway/nccl/communicator.hpp"

namespace isleway::nccl {

/// The file of NCCL_GRAPH_DUMP_FILE for the node of `rank`. Error: as Communicator::create;
/// no such rank.
Result<std::string> graph_dump(const Fabric& fabric, const Options& options, int rank = 0);

/// The lines of NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,GRAPH about topology, graphs and
/// channels that `rank` prints, from "NCCL INFO" on; with `all_ranks`, the rings and trees of
/// the others too.
Result<std::string> info_lines(const Fabric& fabric, const Options& options, int rank = 0,
                               bool all_ranks = false);

}  // namespace isleway::nccl
