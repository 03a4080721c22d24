// Cuts and bisection, as maximum flows over classes of equal units and switches.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "fabric/alike.hpp"
#include "fabric/max_flow.hpp"
#include "fabric/scale_up.hpp"
#include "isleway/fabric/fabric.hpp"

namespace isleway {
namespace {

enum class Side : char { none, from, to };

/// Which GPUs of a unit are on which side.
struct Sides {
  std::vector<Side> of_gpu;
  bool has(Side side) const { return std::count(of_gpu.begin(), of_gpu.end(), side) > 0; }
  friend auto operator<=>(const Sides&, const Sides&) = default;
};

class CutGraph {
 public:
  CutGraph(const Fabric& fabric, bool nominal) : fabric_(fabric), nominal_(nominal) {
    source_ = flow_.add_vertex();
    sink_ = flow_.add_vertex();
  }

  Rate run(std::span<const GpuId> from, std::span<const GpuId> to) {
    put_on_sides(from, to);
    const Alike alike = find_alike(fabric_, marks_);
    for (std::uint32_t i = 0; i < alike.switch_classes; ++i)
      switches_.push_back(flow_.add_vertex());
    add_trunks(alike);

    std::vector<std::uint32_t> members(alike.unit_classes, 0), first(alike.unit_classes, 0);
    for (std::uint32_t u = fabric_.unit_count(); u-- > 0;) {
      ++members[alike.of_unit[u]];
      first[alike.of_unit[u]] = u;
    }
    for (std::uint32_t i = 0; i < alike.unit_classes; ++i) add_unit(first[i], members[i], alike);

    const std::int64_t most = flow_.run(source_, sink_);
    return most == MaxFlow::unlimited ? Rate::unlimited()
                                      : Rate::bytes_per_second(static_cast<double>(most));
  }

 private:
  void put_on_sides(std::span<const GpuId> from, std::span<const GpuId> to) {
    std::map<std::uint32_t, Sides> involved;
    const auto put = [&](std::span<const GpuId> gpus, Side side) {
      for (GpuId id : gpus) {
        const DeviceRef gpu = fabric_.gpu(id);
        const Unit& unit = fabric_.unit(gpu.unit);
        Sides& sides = involved[gpu.unit];
        sides.of_gpu.resize(unit.gpus().size());
        sides.of_gpu[unit.position(gpu.device)] = side;
      }
    };
    put(from, Side::from);
    put(to, Side::to);

    std::map<Sides, std::uint32_t> numbers = {{Sides{}, 0}};
    marks_.assign(fabric_.unit_count(), 0);
    sides_ = {Sides{}};
    for (auto& [unit, sides] : involved) {
      const auto known = numbers.try_emplace(sides, static_cast<std::uint32_t>(sides_.size()));
      if (known.second) sides_.push_back(sides);
      marks_[unit] = known.first->second;
    }
  }

  std::int64_t capacity(const Link& link, std::uint32_t copies) const {
    const double rate = link.rate().bytes_per_second() * (nominal_ ? 1 : link.efficiency.sm);
    const double total = std::min(rate * copies, static_cast<double>(MaxFlow::unlimited));
    return static_cast<std::int64_t>(std::round(total));
  }

  void add_trunks(const Alike& alike) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> between;
    const Network& network = fabric_.network();
    for (std::size_t i = 0; i < network.trunks().size(); ++i) {
      const Network::Ends ends = network.trunk_ends()[i];
      const auto classes = std::minmax(alike.of_switch[ends.a], alike.of_switch[ends.b]);
      std::int64_t& sum = between[{classes.first, classes.second}];
      sum = std::min(sum + capacity(network.trunks()[i], 1), MaxFlow::unlimited);
    }
    for (const auto& [ends, total] : between)
      flow_.add_edge(switches_[ends.first], switches_[ends.second], total, total);
  }

  /// One unit that stands for `copies` equal ones. Units forward nothing for others: those
  /// that only send use their cables outwards, and those that take no part do not exist.
  void add_unit(std::uint32_t u, std::uint32_t copies, const Alike& alike) {
    const Sides& sides = sides_[marks_[u]];
    const bool sends = sides.has(Side::from), receives = sides.has(Side::to);
    if (!sends && !receives) return;

    const Unit& unit = fabric_.unit(u);
    std::vector<MaxFlow::Vertex> vertex;
    for (std::size_t i = 0; i < unit.devices().size(); ++i) vertex.push_back(flow_.add_vertex());
    for (std::uint32_t i = 0; i < unit.links().size(); ++i) {
      const Link& link = unit.link(i);
      if (!usable(unit, i)) continue;
      const std::int64_t total = capacity(link, copies);
      flow_.add_edge(vertex[link.a], vertex[link.b], total, total);
    }
    // The ideal network of a unit that stands alone is not a way out and back in.
    const bool networked = fabric_.unit_count() > 1;
    for (DeviceIndex nic : networked ? unit.nics() : std::span<const DeviceIndex>{}) {
      const std::uint32_t cable = fabric_.cable_id({u, nic}) - fabric_.first_cable();
      const NicAttachment& attachment = fabric_.network().attachments()[cable];
      const std::int64_t total = capacity(attachment.cable, copies);
      flow_.add_edge(vertex[nic], switches_[alike.of_switch[attachment.leaf]], sends ? total : 0,
                     receives ? total : 0);
    }
    for (DeviceIndex gpu : unit.gpus()) {
      const Side side = sides.of_gpu[unit.position(gpu)];
      if (side == Side::from) flow_.add_edge(source_, vertex[gpu], MaxFlow::unlimited);
      if (side == Side::to) flow_.add_edge(vertex[gpu], sink_, MaxFlow::unlimited);
    }
  }

  static bool usable(const Unit& unit, std::uint32_t link) {
    const LinkKind kind = unit.link(link).kind;
    if (kind != LinkKind::nvlink && kind != LinkKind::xgmi) return unit.link(link).up();
    const auto is_cpu = [&](DeviceIndex i) { return unit.device(i).kind == DeviceKind::cpu; };
    return is_scale_up(unit, link) ||
           (unit.link(link).up() && (is_cpu(unit.link(link).a) || is_cpu(unit.link(link).b)));
  }

  const Fabric& fabric_;
  const bool nominal_;
  MaxFlow flow_;
  MaxFlow::Vertex source_ = 0, sink_ = 0;
  std::vector<MaxFlow::Vertex> switches_;  ///< by class
  std::vector<std::uint32_t> marks_;       ///< by unit: index in sides_
  std::vector<Sides> sides_;
};

}  // namespace

Rate cut(const Fabric& fabric, std::span<const GpuId> from, std::span<const GpuId> to,
         bool nominal) {
  std::vector<GpuId> both(from.begin(), from.end());
  std::sort(both.begin(), both.end());
  for (GpuId id : to)
    if (std::binary_search(both.begin(), both.end(), id)) return Rate::unlimited();
  return CutGraph(fabric, nominal).run(from, to);
}

Rate bisection(const Fabric& fabric, bool nominal) {
  std::vector<GpuId> gpus(fabric.gpu_count());
  std::iota(gpus.begin(), gpus.end(), GpuId{0});
  const std::span<const GpuId> all(gpus);
  return cut(fabric, all.first(all.size() / 2), all.subspan(all.size() / 2), nominal);
}

}  // namespace isleway
