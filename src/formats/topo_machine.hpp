// From a topo -m matrix to a machine.
#pragma once

#include "formats/topo_matrix.hpp"
#include "isleway/formats.hpp"

namespace isleway::formats {

/// The machine that would print this matrix, with all that had to be assumed as notices.
/// Error: a --gpu that the catalogue does not know, or parts that do not fit together.
Result<Document> machine_of_topo(const TopoMatrix& matrix, const ReadContext& context,
                                 const Notebook& notes_so_far);

}  // namespace isleway::formats
