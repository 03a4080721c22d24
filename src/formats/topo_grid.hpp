// The square matrix that `nvidia-smi topo` prints, before its cells mean anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/notebook.hpp"
#include "formats/topo_tokens.hpp"
#include "isleway/core/error.hpp"

namespace isleway::formats {

/// More devices than any host has; a larger header is damage, and the matrix grows with its
/// square.
inline constexpr std::size_t kMaxTopoDevices = 1024;

/// The part of a file in which a matrix is looked for: room for the largest, with a log before.
inline constexpr std::size_t kTopoBytes = std::size_t{8} << 20;

struct TopoGrid {
  struct Row {
    int line = 0;                           ///< 0: the file has no row for this device
    std::vector<std::string_view> cells;    ///< one a device; empty where not readable
    std::vector<std::string_view> columns;  ///< the titled columns, in the header's order
  };
  std::vector<std::string_view> devices;  ///< "GPU0", "NIC3", "mlx5_1": by column
  std::size_t titles = 0;                 ///< titled columns of the header, 0 to 3
  int header_line = 0;                    ///< 0: there is none, names come from the rows
  std::vector<Row> rows;                  ///< one a device
  std::vector<std::string_view> lines;    ///< the text's lines without prefixes
  std::size_t end = 0;                    ///< the first of `lines` after the matrix

  bool has_rows() const;
};

/// Finds the matrix in the first kTopoBytes of `text` (free of terminal codes; the grid points into
/// it). Rows that are cut, wrapped, doubled or unknown become notices. Without any header or row
/// the grid has no devices. Error: more devices than kMaxTopoDevices.
Result<TopoGrid> parse_topo_grid(std::string_view text, TopoCellTest is_cell, Notebook& notes);

/// How sure `text` is to hold such a matrix: 0 not at all, 1 a header, 2 a row with two cells.
int topo_grid_evidence(std::string_view text, TopoCellTest is_cell);

}  // namespace isleway::formats
