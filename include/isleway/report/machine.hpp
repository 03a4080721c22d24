// A machine as `show` describes it: in words, as JSON, as a picture.
#pragma once

#include <map>
#include <string>

#include "isleway/fabric.hpp"

namespace isleway::report {

/// Title, devices, islands, links, network, bisection, which NIC is near which GPU.
std::string machine_text(const Fabric& fabric, const Parts& parts);

/// See docs/json.md.
std::string machine_json(const Fabric& fabric, const Parts& parts);

/// How busy links were, 0 to 1, by link.
using LinkShares = std::map<LinkId, double>;

/// Error: no device to draw, or `loads` of more than one host.
Result<std::string> machine_svg(const Fabric& fabric, const LinkShares& loads = {});

/// Reads what --trace FILE.csv writes: of each link the busier direction's share of its rate over
/// all the time. Error: no such table, a link that the machine does not have (with its line).
Result<LinkShares> read_link_loads(const Fabric& fabric, const std::string& text,
                                   const std::string& file);

}  // namespace isleway::report
