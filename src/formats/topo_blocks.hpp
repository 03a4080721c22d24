// The matrices of `nvidia-smi topo` in a text that may hold several.
#pragma once

#include <string_view>
#include <vector>

namespace isleway::formats {

struct TopoBlock {
  std::size_t first = 0;  ///< its line in the text, from 0
  std::string_view text;  ///< up to the next matrix
  bool is_p2p = false;    ///< of `topo -p2p`, by its cells and titles
};

/// At least one, of all the text, even if nothing in it is a matrix.
std::vector<TopoBlock> topo_blocks(std::string_view text);

/// A word that `topo -p2p` prints in a cell: "X", "OK", "CNS", ...
bool is_p2p_cell(std::string_view token);

/// "gpu3" and "nic0" of "GPU3" and "NIC0"; other names stay.
std::string topo_subject(std::string_view device);

}  // namespace isleway::formats
