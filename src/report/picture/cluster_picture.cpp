// Units below the tiers of their network.
#include <fmt/format.h>

#include <algorithm>

#include "report/picture/pictures.hpp"
#include "report/summary.hpp"

namespace isleway::report {
namespace {

constexpr double kCardWidth = 132, kCardHeight = 88, kCardGap = 14;
constexpr double kSwitchHeight = 26, kTierGap = 74;
constexpr std::uint32_t kMostCards = 8, kMostSwitches = 16;

/// The first switches of a tier that are drawn, spread over the width.
std::vector<Rect> tier_boxes(std::size_t count, const Rect& room) {
  std::vector<Rect> boxes;
  const double slot = room.w / static_cast<double>(std::max<std::size_t>(1, count));
  const double width = std::min(150.0, slot - 8);
  for (std::size_t i = 0; i < count; ++i)
    boxes.push_back(
        {room.x + slot * (static_cast<double>(i) + 0.5) - width / 2, room.y, width, kSwitchHeight});
  return boxes;
}

class ClusterPicture {
 public:
  ClusterPicture(Svg& svg, const Fabric& fabric, Point top_left)
      : svg_(svg), fabric_(fabric), network_(fabric.network()), top_left_(top_left) {
    const std::uint32_t cards = std::min(fabric.unit_count(), kMostCards);
    width_ = std::max(cards * (kCardWidth + kCardGap) - kCardGap, 560.0);
    card_width_ = kCardWidth;
  }

  Rect draw() {
    place_switches();
    draw_trunks();
    draw_cables();
    draw_switches();
    draw_cards();
    return {top_left_.x, top_left_.y, width_, cards_top() + kCardHeight + 22 - top_left_.y};
  }

 private:
  double tier_top(int tier) const {
    return top_left_.y + (tiers_ - 1 - tier) * (kSwitchHeight + kTierGap);
  }
  double cards_top() const {
    return tiers_ == 0 ? top_left_.y : tier_top(0) + kSwitchHeight + kTierGap;
  }

  void place_switches() {
    for (const NetSwitch& one : network_.switches()) tiers_ = std::max(tiers_, one.tier + 1);
    in_tier_.resize(static_cast<std::size_t>(tiers_));
    for (std::uint32_t i = 0; i < network_.switches().size(); ++i)
      in_tier_[static_cast<std::size_t>(network_.switches()[i].tier)].push_back(i);
    boxes_.resize(network_.switches().size());
    for (int tier = 0; tier < tiers_; ++tier) {
      auto& all = in_tier_[static_cast<std::size_t>(tier)];
      const std::size_t drawn = std::min<std::size_t>(all.size(), kMostSwitches);
      const auto boxes = tier_boxes(drawn, {top_left_.x, tier_top(tier), width_, kSwitchHeight});
      for (std::size_t i = 0; i < drawn; ++i) boxes_[all[i]] = boxes[i];
    }
  }

  static bool drawn(const Rect& box) { return box.w > 0; }

  void draw_trunks() {
    for (std::size_t i = 0; i < network_.trunks().size(); ++i) {
      const auto [a, b] = network_.trunk_ends()[i];
      const Rect &low = boxes_[a].y > boxes_[b].y ? boxes_[a] : boxes_[b],
                 &high = boxes_[a].y > boxes_[b].y ? boxes_[b] : boxes_[a];
      if (!drawn(low) || !drawn(high)) continue;
      const Link& link = network_.trunks()[i];
      svg_.line({low.middle_x(), low.y}, {high.middle_x(), high.bottom()},
                link.degraded() ? "bad" : "network", stroke_width(link.rate().GBs()) * 0.5);
    }
  }

  /// From each drawn unit to each leaf that it has cables to, all its cables there as one.
  void draw_cables() {
    std::size_t nic = 0;
    for (std::uint32_t unit = 0; unit < fabric_.unit_count() && unit < kMostCards; ++unit) {
      std::vector<std::pair<std::uint32_t, Rate>> leaves;
      bool bad = false;
      for (std::size_t i = 0; i < fabric_.unit(unit).nics().size(); ++i, ++nic) {
        if (nic >= network_.attachments().size()) return;
        const NicAttachment& cable = network_.attachments()[nic];
        bad = bad || cable.cable.degraded();
        const auto found = std::find_if(leaves.begin(), leaves.end(),
                                        [&](const auto& leaf) { return leaf.first == cable.leaf; });
        if (found == leaves.end()) {
          leaves.emplace_back(cable.leaf, cable.cable.rate());
        } else {
          found->second = found->second + cable.cable.rate();
        }
      }
      const Rect card = card_at(unit);
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        const Rect& box = boxes_[leaves[i].first];
        if (!drawn(box)) continue;
        const double x =
            card.x + card.w * (static_cast<double>(i) + 0.5) / static_cast<double>(leaves.size());
        svg_.line({x, card.y}, {box.middle_x(), box.bottom()}, bad ? "bad" : "network",
                  stroke_width(leaves[i].second.GBs()) * 0.5);
      }
    }
  }

  void draw_switches() {
    const auto summaries = summarise(network_);
    for (int tier = 0; tier < tiers_; ++tier) {
      const auto& all = in_tier_[static_cast<std::size_t>(tier)];
      for (const std::uint32_t i : all) {
        if (!drawn(boxes_[i])) continue;
        const NetSwitch& one = network_.switches()[i];
        svg_.rect(boxes_[i], one.members < one.members_max ? "bad net" : "net");
        const bool wide = boxes_[i].w > 60;
        svg_.text(
            {boxes_[i].middle_x(), boxes_[i].middle_y() + 4},
            wide && one.members > 1 ? fmt::format("{} x {}", one.members, one.name) : one.name,
            wide ? "name" : "small");
      }
      std::string note;
      if (all.size() > kMostSwitches)
        note = fmt::format("{} of {} drawn; ", kMostSwitches, all.size());
      const TierSummary& summary = summaries[static_cast<std::size_t>(tier)];
      note += fmt::format("{:.4g} TB/s down", summary.down.GBs() / 1000);
      if (!summary.up.is_zero())
        note += fmt::format(", {:.4g} TB/s up ({:.3g}:1)", summary.up.GBs() / 1000,
                            summary.oversubscription());
      svg_.label({top_left_.x + width_ / 2, tier_top(tier) - 8}, note, "small", "page");
    }
  }

  Rect card_at(std::uint32_t unit) const {
    const std::uint32_t cards = std::min(fabric_.unit_count(), kMostCards);
    const double slot = width_ / cards;
    return {top_left_.x + slot * unit + (slot - card_width_) / 2, cards_top(), card_width_,
            kCardHeight};
  }

  void draw_cards() {
    for (std::uint32_t unit = 0; unit < fabric_.unit_count() && unit < kMostCards; ++unit) {
      const Unit& one = fabric_.unit(unit);
      const std::string hosts =
          one.parts().hosts > 1 ? fmt::format(", {} hosts", one.parts().hosts) : "";
      draw_card(svg_, one, 0, fmt::format("{} {}{}", one.name(), unit, hosts), card_at(unit), true);
    }
    if (fabric_.unit_count() > kMostCards)
      svg_.text({top_left_.x + width_, cards_top() + kCardHeight + 16},
                fmt::format("... and {} more", fabric_.unit_count() - kMostCards), "subtitle",
                Anchor::end);
  }

  Svg& svg_;
  const Fabric& fabric_;
  const Network& network_;
  Point top_left_;
  double width_ = 0, card_width_ = 0;
  int tiers_ = 0;
  std::vector<std::vector<std::uint32_t>> in_tier_;
  std::vector<Rect> boxes_;
};

}  // namespace

Rect draw_cluster(Svg& svg, const Fabric& fabric, Point top_left) {
  return ClusterPicture(svg, fabric, top_left).draw();
}

}  // namespace isleway::report
