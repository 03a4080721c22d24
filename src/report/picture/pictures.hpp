// The pictures: one host in full, a rack of hosts, a cluster of units.
#pragma once

#include "isleway/fabric.hpp"
#include "isleway/report/machine.hpp"
#include "report/picture/svg.hpp"

namespace isleway::report {

/// The class that colours links of a kind.
const char* link_style(LinkKind kind);

/// Each draws below and right of `top_left` and gives the room it took.
/// With `loads`, links are coloured by these instead of by kind.
Rect draw_host(Svg& svg, const Unit& unit, int host, Point top_left, const LinkShares& loads = {});

/// The class that colours a link which was busy for `share` of the time.
const char* load_style(double share);

/// Hosts that share NVSwitches: one card a host, the links of each to the switches as one.
Rect draw_rack(Svg& svg, const Unit& unit, Point top_left);

/// Units below the tiers of their network; many units or switches are drawn as a few.
Rect draw_cluster(Svg& svg, const Fabric& fabric, Point top_left);

/// GPUs, CPUs and NICs of one host as small boxes, GPUs at the top (or at the bottom).
/// `room` is the whole card.
void draw_card(Svg& svg, const Unit& unit, int host, const std::string& name, const Rect& room,
               bool gpus_on_top);

}  // namespace isleway::report
