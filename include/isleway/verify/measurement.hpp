// Tables that nccl-tests printed on real machines, from the YAML files in measurements/.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "isleway/nccl.hpp"

namespace isleway::verify {

struct MeasuredRow {
  std::int64_t bytes = 0;  ///< nccl-tests' "size" column
  Time time;               ///< out of place
  std::optional<Time> in_place;
};

struct MeasuredTable {
  std::string id;  ///< the file's name without ".yaml"
  std::string source, measured, posted, note;
  /// Groups of tables that share a kind of machine, or the people who measured.
  std::string platform, site;

  /// What stands for the machine in the catalogue; empty when `left_out` says why nothing does.
  std::string machine, network;
  std::string left_out;
  std::string set_aside;  ///< why constants are not fitted on it, or empty
  std::vector<std::string> faults;
  int gpus_per_node = 0;  ///< the first ones; 0: all

  Collective collective = Collective::all_reduce;
  int ranks = 0;
  nccl::DataType type;
  nccl::Options nccl;
  int iterations = 20;
  std::vector<MeasuredRow> rows;
};

/// Whether the table is of a release of NCCL whose choices the model knows.
bool is_known_release(const MeasuredTable& table);

/// Whether constants are fitted on a table: what it was measured on is known, and its release of
/// NCCL is one whose choices are.
bool calibrates(const MeasuredTable& table);

/// Error: what is missing or wrong, at its line. `file` is for messages and gives the id.
Result<MeasuredTable> measured_table_from_yaml(const std::string& text, const std::string& file);

/// Every table of a folder, by id.
Result<std::vector<MeasuredTable>> load_measured_tables(const std::filesystem::path& folder);

/// The machine that the table was measured on, as the catalogue knows it.
Result<Fabric> fabric_of(const MeasuredTable& table, const Catalogue& catalogue);

}  // namespace isleway::verify
