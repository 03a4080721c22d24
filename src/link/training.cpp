#include "isleway/link/training.hpp"

#include <algorithm>

namespace isleway::link {
namespace {

/// The most lanes in a power of two, aligned as a bus is cut into halves and quarters.
int widest_good_group(std::span<const Lane> lanes, double worst_ber) {
  const auto good = [&](const Lane& lane) { return lane.detected && lane.ber <= worst_ber; };
  if (!lanes.empty() && std::ranges::all_of(lanes, good)) return static_cast<int>(lanes.size());
  std::size_t width = 1;
  while (2 * width < lanes.size()) width *= 2;
  for (; width > 0; width /= 2)
    for (std::size_t first = 0; first + width <= lanes.size(); first += width)
      if (std::ranges::all_of(lanes.subspan(first, width), good)) return static_cast<int>(width);
  return 0;
}

}  // namespace

const char* name_of(LinkState state) {
  switch (state) {
    case LinkState::off: return "OFF";
    case LinkState::active: return "HS";
    case LinkState::safe: return "SAFE";
    case LinkState::fault: return "FAULT";
    case LinkState::recovery: return "RECOVERY";
    case LinkState::fail: return "FAIL";
    case LinkState::reset: return "RESET";
    case LinkState::enable_pm: return "ENABLE_PM";
    case LinkState::traffic_setup: return "TRAFFIC_SETUP";
    case LinkState::initphase1: return "INITPHASE1";
    case LinkState::initnegotiate: return "INITNEGOTIATE";
    case LinkState::post_initnegotiate: return "POST_INITNEGOTIATE";
    case LinkState::initoptimize: return "INITOPTIMIZE";
    case LinkState::post_initoptimize: return "POST_INITOPTIMIZE";
    case LinkState::inittl: return "INITTL";
  }
  return "?";
}

int reported_state(LinkState state) {
  constexpr int kInit = 0, kSwcfg = 2, kActive = 3, kFault = 4, kRecovery = 6;
  switch (state) {
    case LinkState::off:
    case LinkState::reset:
    case LinkState::initphase1: return kInit;
    case LinkState::active:
    case LinkState::inittl:
    case LinkState::traffic_setup:
    case LinkState::enable_pm: return kActive;
    case LinkState::fault:
    case LinkState::fail: return kFault;
    case LinkState::recovery: return kRecovery;
    default: return kSwcfg;
  }
}

void Training::enter(LinkState state) {
  state_ = state;
  history_.push_back({now_, state});
}

Width Training::settle(std::span<const Lane> lanes) {
  used_ = widest_good_group(lanes, rules_.worst_lane_ber);
  if (used_ > 0) return used_ == static_cast<int>(lanes.size()) ? Width::full : Width::reduced;
  return Width::failed;
}

Width Training::train(std::span<const Lane> lanes) {
  enter(LinkState::off);
  enter(LinkState::reset);
  enter(LinkState::initphase1);
  if (std::ranges::none_of(lanes, &Lane::detected)) {
    used_ = 0;
    now_ += rules_.safe;
    enter(LinkState::fault);
    return Width::failed;
  }
  for (const LinkState state : {LinkState::safe, LinkState::initnegotiate,
                                LinkState::post_initnegotiate, LinkState::initoptimize})
    enter(state);
  const Width width = settle(lanes);
  if (width == Width::failed) {
    now_ += rules_.high_speed;
    enter(LinkState::fault);
    return width;
  }
  enter(LinkState::post_initoptimize);
  enter(LinkState::active);
  constexpr int kFirstWithInitTl = 4;
  if (generation_ >= kFirstWithInitTl) enter(LinkState::inittl);
  enter(LinkState::traffic_setup);
  enter(LinkState::enable_pm);
  enter(LinkState::active);
  return width;
}

Width Training::recover(std::span<const Lane> lanes) {
  ++recoveries_;
  enter(LinkState::recovery);
  const Width width = settle(lanes);
  if (width == Width::failed) now_ += rules_.post_high_speed;
  enter(width == Width::failed ? LinkState::fail : LinkState::active);
  return width;
}

Link trained(Link link, const Training& training) {
  link.lanes = static_cast<std::uint16_t>(training.lanes_used());
  if (link.lanes == 0) link.count = 0;
  return link;
}

}  // namespace isleway::link
