// Graphviz: a picture of one unit, or with `include_all` of the whole fabric.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "isleway/formats.hpp"

namespace isleway::formats {
namespace {

/// More than this no one can read, and Graphviz takes minutes over it.
constexpr std::size_t kMostNodes = 5000;

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

/// Mid tones, which stand out on white and on black.
const char* color_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu: return "#76b900";
    case DeviceKind::nvswitch: return "#3f8f5f";
    case DeviceKind::cpu: return "#5b7fb4";
    case DeviceKind::pcie_switch: return "#9a9a9a";
    case DeviceKind::nic: return "#c8842c";
  }
  return "";
}
const char* color_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::nvlink:
    case LinkKind::xgmi: return "#76b900";
    case LinkKind::c2c: return "#3f8f5f";
    case LinkKind::pcie: return "#9a9a9a";
    case LinkKind::smp: return "#5b7fb4";
    case LinkKind::network: return "#c8842c";
  }
  return "";
}

std::string edge(std::string_view a, std::string_view b, const Link& link) {
  std::string label;
  switch (link.kind) {
    case LinkKind::nvlink: label = fmt::format("NV{}", link.count); break;
    case LinkKind::xgmi: label = fmt::format("xGMI {}", link.count); break;
    case LinkKind::c2c: label = "C2C"; break;
    case LinkKind::pcie:
      label = link.generation > 0 ? fmt::format("gen{} x{}", link.generation, link.lanes)
                                  : fmt::format("x{}", link.lanes);
      break;
    case LinkKind::smp: break;
    case LinkKind::network: label = fmt::format("{:.0f}G", link.rate().gbits()); break;
  }
  if (link.degraded()) label += "!";
  const double width = std::clamp(std::sqrt(link.rate().GBs()) / 4, 0.6, 6.0);
  return fmt::format(
      "  {} -- {} [label={}, color=\"{}\", penwidth={:.1f}, "
      "tooltip=\"{:.1f} GB/s each way\"{}];\n",
      a, b, quote(label), color_of(link.kind), width, link.rate().GBs(),
      !link.up()        ? ", style=dotted"
      : link.degraded() ? ", style=dashed"
                        : "");
}

class UnitDrawing {
 public:
  UnitDrawing(const Unit& unit, std::string prefix, std::string& out)
      : unit_(unit), prefix_(std::move(prefix)), out_(out), cpu_(unit.devices().size(), kNone) {
    for (const DeviceIndex cpu : unit.cpus()) spread(cpu, cpu, 0);
  }

  void draw() {
    for (int host = 0; host < unit_.parts().hosts; ++host) draw_host(host);
    for (DeviceIndex i = 0; i < cpu_.size(); ++i)
      if (unit_.device(i).host < 0) draw_device(i, "  ");
    for (const Link& link : unit_.links()) out_ += edge(node(link.a), node(link.b), link);
  }
  std::string node(DeviceIndex i) const { return fmt::format("{}d{}", prefix_, i); }

 private:
  static constexpr int kNone = -1, kMostDepth = 64;

  /// Marks what hangs below a CPU as that CPU's.
  void spread(DeviceIndex at, DeviceIndex cpu, int depth) {
    cpu_[at] = cpu;
    if (depth > kMostDepth) return;
    for (const std::uint32_t number : unit_.links_at(at)) {
      const Link& link = unit_.link(number);
      if (link.kind == LinkKind::pcie && link.a == at && cpu_[link.b] == kNone)
        spread(link.b, cpu, depth + 1);
    }
  }

  void draw_host(int host) {
    const auto out = std::back_inserter(out_);
    fmt::format_to(out, "  subgraph cluster_{}h{} {{\n    label=\"host {}\";\n", prefix_, host,
                   host);
    for (const DeviceIndex cpu : unit_.cpus()) {
      if (unit_.device(cpu).host != host) continue;
      fmt::format_to(out, "    subgraph cluster_{} {{\n      label=\"NUMA {}\";\n", node(cpu),
                     unit_.device(cpu).cpu().numa);
      for (DeviceIndex i = 0; i < cpu_.size(); ++i)
        if (cpu_[i] == cpu) draw_device(i, "      ");
      out_ += "    }\n";
    }
    for (DeviceIndex i = 0; i < cpu_.size(); ++i)
      if (unit_.device(i).host == host && cpu_[i] == kNone) draw_device(i, "    ");
    out_ += "  }\n";
  }

  void draw_device(DeviceIndex i, const char* indent) {
    const Device& device = unit_.device(i);
    fmt::format_to(std::back_inserter(out_), "{}{} [label={}, fillcolor=\"{}\"{}];\n", indent,
                   node(i), quote(device.name), color_of(device.kind),
                   device.kind == DeviceKind::gpu ? ", shape=box3d" : "");
  }

  const Unit& unit_;
  const std::string prefix_;
  std::string& out_;
  std::vector<int> cpu_;  ///< by device: the CPU whose tree it is in
};

void draw_network(const Fabric& fabric, std::string& out) {
  const Network& network = fabric.network();
  for (std::size_t i = 0; i < network.switches().size(); ++i)
    out += fmt::format("  s{} [label={}, fillcolor=\"{}\", shape=hexagon];\n", i,
                       quote(network.switches()[i].name), color_of(LinkKind::network));
  for (std::size_t i = 0; i < network.trunks().size(); ++i)
    out += edge(fmt::format("s{}", network.trunk_ends()[i].a),
                fmt::format("s{}", network.trunk_ends()[i].b), network.trunks()[i]);
  std::size_t cable = 0;
  for (std::uint32_t unit = 0; unit < fabric.unit_count(); ++unit) {
    for (const DeviceIndex nic : fabric.unit(unit).nics()) {
      if (cable >= network.attachments().size()) return;
      const NicAttachment& end = network.attachments()[cable++];
      out += edge(fmt::format("u{}d{}", unit, nic), fmt::format("s{}", end.leaf), end.cable);
    }
  }
}

Result<std::string> write_dot(const Fabric& fabric, const WriteOptions& options) {
  if (options.unit >= fabric.unit_count()) return fail(fmt::format("has no unit {}", options.unit));
  const std::uint32_t first = options.include_all ? 0 : options.unit;
  const std::uint32_t last = options.include_all ? fabric.unit_count() - 1 : options.unit;
  std::size_t nodes = options.include_all ? fabric.network().switches().size() : 0;
  for (std::uint32_t unit = first; unit <= last; ++unit)
    nodes += fabric.unit(unit).devices().size();
  if (nodes > kMostNodes)
    return fail(fmt::format("has {} devices: no picture of that many can be read", nodes),
                fmt::format("at most {}", kMostNodes), "draw one unit of it");

  std::string out = fmt::format(
      "graph {0} {{\n  graph [label={0}, labelloc=t, fontname=\"Helvetica\", bgcolor=transparent, "
      "nodesep=0.15, ranksep=0.8];\n"
      "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11, "
      "color=\"#555555\"];\n  edge [fontname=\"Helvetica\", fontsize=9, fontcolor=\"#777777\"];\n",
      quote(fabric.name()));
  for (std::uint32_t unit = first; unit <= last; ++unit)
    UnitDrawing(fabric.unit(unit), fmt::format("u{}", unit), out).draw();
  if (options.include_all && fabric.unit_count() > 1) draw_network(fabric, out);
  return out + "}\n";
}

}  // namespace

extern const Writer dot_writer;
const Writer dot_writer = {"dot", "Graphviz", write_dot};

}  // namespace isleway::formats
