// One host: its NVLink islands above, its PCIe tree below.
#include <fmt/format.h>

#include <algorithm>

#include "report/picture/host_layout.hpp"
#include "report/picture/pictures.hpp"
#include "report/summary.hpp"

namespace isleway::report {
namespace {

bool is_scale_up(LinkKind kind) { return kind == LinkKind::nvlink || kind == LinkKind::xgmi; }

const char* style_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu: return "gpu";
    case DeviceKind::nvswitch: return "nvswitch";
    case DeviceKind::cpu: return "cpu";
    case DeviceKind::pcie_switch: return "pcie_switch";
    case DeviceKind::nic: return "nic";
  }
  return "";
}

/// "5" where all links of a bundle work, "4 of 5" where one is down.
std::string count_text(const Link& link) {
  return link.count == link.count_max ? fmt::format("{}", link.count)
                                      : fmt::format("{} of {}", link.count, link.count_max);
}

class HostPicture {
 public:
  HostPicture(Svg& svg, const HostLayout& layout, const LinkShares& loads)
      : svg_(svg), layout_(layout), unit_(layout.unit()), loads_(loads) {}

  void draw() {
    islands();
    tree_links();
    scale_up_links();
    sockets();
    for (DeviceIndex i = 0; i < unit_.devices().size(); ++i) box(i);
  }

 private:
  void islands() {
    for (int island = 0; island < unit_.island_count(); ++island) {
      std::vector<Rect> boxes;
      for (const DeviceIndex gpu : unit_.gpus())
        if (const auto at = layout_.at(gpu); at && unit_.island_of(gpu) == island)
          boxes.push_back(*at);
      if (boxes.size() < 2 || !contiguous(island)) continue;
      const auto [left, right] = std::minmax_element(
          boxes.begin(), boxes.end(), [](const Rect& a, const Rect& b) { return a.x < b.x; });
      const double top = layout_.bounds().y + 4;
      const Rect frame{left->x - 7, top, right->right() - left->x + 14, left->bottom() + 9 - top};
      svg_.rect(frame, "island", 10);
      svg_.text({frame.x + 10, frame.y + 17}, island_title(island, static_cast<int>(boxes.size())),
                "count", Anchor::start);
    }
  }

  /// No GPU of another island stands between those of this one.
  bool contiguous(int island) const {
    double left = 1e9, right = -1e9;
    for (const DeviceIndex gpu : unit_.gpus()) {
      const auto at = layout_.at(gpu);
      if (!at || unit_.island_of(gpu) != island) continue;
      left = std::min(left, at->x);
      right = std::max(right, at->x);
    }
    return std::none_of(unit_.gpus().begin(), unit_.gpus().end(), [&](DeviceIndex gpu) {
      const auto at = layout_.at(gpu);
      return at && unit_.island_of(gpu) != island && at->x > left && at->x < right;
    });
  }

  std::string island_title(int island, int gpus) const {
    for (const DeviceIndex gpu : unit_.gpus()) {
      if (unit_.island_of(gpu) != island) continue;
      int links = 0;
      Rate rate;
      const char* kind = "NVLink";
      for (const std::uint32_t at : unit_.links_at(gpu)) {
        const Link& link = unit_.link(at);
        if (!is_scale_up(link.kind)) continue;
        kind = name_of(link.kind);
        links += link.up() ? link.count : 0;
        rate = rate + link.rate();
      }
      if (gpus > 2)
        return fmt::format("{} domain of {} GPUs: {} links a GPU, {:.4g} GB/s each way{}", kind,
                           gpus, links, rate.GBs(), unit_.has_multicast(island) ? ", NVLS" : "");
      return fmt::format("{} {}s, {:.4g} GB/s", links, kind, rate.GBs());
    }
    return {};
  }

  /// PCIe and C2C: straight down from each device to the bar it hangs on.
  void tree_links() {
    for (DeviceIndex i = 0; i < unit_.devices().size(); ++i) {
      const auto box = layout_.at(i);
      const auto parent = layout_.parent(i);
      if (!box || !parent) continue;
      const auto below = layout_.at(parent->device);
      if (!below) continue;
      const Link& link = unit_.link(parent->link);
      const double x = box->middle_x();
      svg_.line({x, box->bottom()}, {x, below->y}, colour_of(link), stroke_width(link.rate().GBs()));
      const std::string width = link.kind == LinkKind::c2c ? "C2C"
                                : link.degraded()
                                    ? fmt::format("x{} of x{}", link.lanes, link.lanes_max)
                                    : fmt::format("x{}", link.lanes);
      svg_.text({x + 6, below->y - 6}, width, link.degraded() ? "alarm" : "small", Anchor::start);
    }
  }

  void scale_up_links() {
    for (const Link& link : unit_.links()) {
      if (!is_scale_up(link.kind)) continue;
      const auto a = layout_.at(link.a), b = layout_.at(link.b);
      if (!a || !b) continue;
      const int chips = (unit_.device(link.a).kind == DeviceKind::nvswitch ? 1 : 0) +
                        (unit_.device(link.b).kind == DeviceKind::nvswitch ? 1 : 0);
      if (chips == 0) arc(link, *a, *b);
      if (chips == 1) fan_line(link);
      if (chips == 2) trunk(link, *a, *b);
    }
  }

  /// Between a GPU and an NVSwitch. Ends stand along the boxes in the order of the other
  /// ends, so that no two lines of one box cross.
  void fan_line(const Link& link) {
    const bool a_is_chip = unit_.device(link.a).kind == DeviceKind::nvswitch;
    const DeviceIndex chip = a_is_chip ? link.a : link.b, gpu = a_is_chip ? link.b : link.a;
    const Rect top = *layout_.at(chip), bottom = *layout_.at(gpu);
    const Point from{end_of(link, chip, gpu), top.bottom()};
    const Point to{end_of(link, gpu, chip), bottom.y};
    svg_.line(from, to, colour_of(link), stroke_width(link.rate().GBs()) * 0.6);
    svg_.label({to.x, to.y - 4}, count_text(link), link.degraded() ? "alarm" : "count");
  }

  /// Between two NVSwitches.
  void trunk(const Link& link, const Rect& a, const Rect& b) {
    const Rect& left = a.x < b.x ? a : b;
    const Rect& right = a.x < b.x ? b : a;
    const Point from{left.middle_x(), left.y}, to{right.middle_x(), right.y};
    svg_.arc(from, to, 26, colour_of(link), stroke_width(link.rate().GBs()) * 0.6);
    svg_.label({from.x, from.y - 6}, count_text(link), link.degraded() ? "alarm" : "count");
  }

  /// Where along the box of `device` its link to `peer` ends.
  double end_of(const Link& link, DeviceIndex device, DeviceIndex peer) const {
    const auto place = [&](DeviceIndex other, const Link& one) {
      return std::pair(layout_.at(other)->x, &one);
    };
    const DeviceKind wanted = unit_.device(peer).kind;
    int before = 0, all = 0;
    for (const std::uint32_t at : unit_.links_at(device)) {
      const Link& one = unit_.link(at);
      const DeviceIndex other = unit_.peer(at, device);
      if (!is_scale_up(one.kind) || unit_.device(other).kind != wanted || !layout_.at(other))
        continue;
      ++all;
      before += place(other, one) < place(peer, link) ? 1 : 0;
    }
    const Rect box = *layout_.at(device);
    return box.x + box.w * (before + 0.5) / std::max(1, all);
  }

  void arc(const Link& link, const Rect& a, const Rect& b) {
    const Rect& left = a.x < b.x ? a : b;
    const Rect& right = a.x < b.x ? b : a;
    // Ends lean towards the other device, so that arcs to both sides stay apart.
    const double lean = std::min(36.0, 6 + (right.x - left.x) * 0.03);
    const Point from{left.middle_x() + 42 - lean, left.y},
        to{right.middle_x() - 42 + lean, right.y};
    const double height = layout_.arc_height(link.a, link.b);
    svg_.arc(from, to, height, colour_of(link), stroke_width(link.rate().GBs()) * 0.8);
    svg_.label({(from.x + to.x) / 2, from.y - height + 3}, count_text(link),
               link.degraded() ? "alarm" : "count");
  }

  /// One line under all CPUs that are joined: who is joined to whom is nearly always all.
  void sockets() {
    double left = 1e9, right = -1e9, y = 0;
    const Link* widest = nullptr;
    for (const Link& link : unit_.links()) {
      if (link.kind != LinkKind::smp) continue;
      const auto a = layout_.at(link.a), b = layout_.at(link.b);
      if (!a || !b) continue;
      if (widest == nullptr || widest->rate() < link.rate()) widest = &link;
      for (const Rect& box : {*a, *b}) {
        left = std::min(left, box.middle_x());
        right = std::max(right, box.middle_x());
        y = box.bottom() + 16;
        svg_.line({box.middle_x(), box.bottom()}, {box.middle_x(), y}, "smp", 2);
      }
    }
    if (widest == nullptr) return;
    svg_.line({left, y}, {right, y}, "smp", stroke_width(widest->rate().GBs()));
    svg_.label({(left + right) / 2, y + 4},
               fmt::format("between sockets {:.3g} GB/s each way", widest->rate().GBs()), "small");
  }

  void box(DeviceIndex i) {
    const auto at = layout_.at(i);
    if (!at) return;
    const Device& device = unit_.device(i);
    svg_.rect(*at, style_of(device.kind));
    std::string name = device.name, detail;
    switch (device.kind) {
      case DeviceKind::gpu: detail = device.pci.bus_id; break;
      case DeviceKind::nic: {
        detail = fmt::format("{:g} Gb/s", device.nic().rate.gbits());
        const auto stack = layout_.stacks().find(i);
        if (stack != layout_.stacks().end()) {
          name = fmt::format("{} NICs", stack->second.size());
          detail = "each " + detail;
        }
        break;
      }
      case DeviceKind::cpu:
        detail = device.cpu().numa >= 0 ? fmt::format("NUMA node {}", device.cpu().numa) : "";
        break;
      default: break;
    }
    const double middle = at->middle_y();
    svg_.text({at->middle_x(), detail.empty() ? middle + 4 : middle - 2}, name, "name");
    if (!detail.empty()) svg_.text({at->middle_x(), middle + 10}, detail, "small");
  }

  /// By how busy it was, where that is known; else by kind and state.
  const char* colour_of(const Link& link) const {
    if (loads_.empty()) return link.degraded() ? "bad" : link_style(link.kind);
    const auto number = static_cast<std::uint32_t>(&link - unit_.links().data());
    const auto known = loads_.find(number);
    return load_style(known == loads_.end() ? 0 : known->second);
  }

  Svg& svg_;
  const HostLayout& layout_;
  const Unit& unit_;
  const LinkShares& loads_;
};

}  // namespace

const char* link_style(LinkKind kind) {
  switch (kind) {
    case LinkKind::nvlink: return "nvlink";
    case LinkKind::xgmi: return "xgmi";
    case LinkKind::c2c: return "c2c";
    case LinkKind::pcie: return "pcie";
    case LinkKind::smp: return "smp";
    case LinkKind::network: return "network";
  }
  return "pcie";
}

const char* load_style(double share) {
  constexpr double kIdle = 0.01;
  if (share < kIdle) return "load0";
  return share < 0.25 ? "load1" : share < 0.5 ? "load2" : share < 0.75 ? "load3" : "load4";
}

Rect draw_host(Svg& svg, const Unit& unit, int host, Point top_left, const LinkShares& loads) {
  const HostLayout layout(unit, host, top_left);
  HostPicture(svg, layout, loads).draw();
  Rect bounds = layout.bounds();
  const bool sockets = std::any_of(unit.links().begin(), unit.links().end(),
                                   [](const Link& link) { return link.kind == LinkKind::smp; });
  bounds.h += sockets ? 24 : 0;
  return bounds;
}

}  // namespace isleway::report
