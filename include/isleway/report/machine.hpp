// A machine as `show` describes it: in words, as JSON, as a picture.
#pragma once

#include <string>

#include "isleway/fabric.hpp"

namespace isleway::report {

/// Title, devices, islands, links, network, bisection, which NIC is near which GPU.
std::string machine_text(const Fabric& fabric, const Parts& parts);

/// See docs/json.md.
std::string machine_json(const Fabric& fabric, const Parts& parts);

/// Error: no device to draw.
Result<std::string> machine_svg(const Fabric& fabric);

}  // namespace isleway::report
