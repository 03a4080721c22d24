// NVLinks for files that leave them to the driver, from the catalogue's machines.
#pragma once

#include "formats/machine_builder.hpp"

namespace isleway::formats {

/// For a file that gives no more of its GPUs than PCI functions, which starts to do so at
/// `line`. Where --gpu or a PCI device id tells the part, the GPUs are wired as the catalogue
/// wires as many of them; else, or where it knows no such board, a notice tells what is
/// missing and what to give.
void wire_as_known_board(MachineBuilder& build, const ReadContext& context, int line);

}  // namespace isleway::formats
