#include "fabric/alike.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace isleway {
namespace {

using Colour = std::uint32_t;

/// Gives equal things equal numbers, in the order in which they come.
template <class T>
class Numbering {
 public:
  std::uint32_t operator()(T thing) {
    return known_.try_emplace(std::move(thing), static_cast<std::uint32_t>(known_.size()))
        .first->second;
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(known_.size()); }

 private:
  std::map<T, std::uint32_t> known_;
};

/// A cable as one of its ends sees it.
struct Edge {
  std::uint32_t vertex;  ///< this end
  std::uint32_t label;   ///< equal for cables of the same rate at the same place
  std::uint32_t other;
};

/// Units first, then switches.
std::vector<Edge> edges_of(const Fabric& fabric) {
  const Network& network = fabric.network();
  std::vector<Edge> edges;
  edges.reserve(2 * (network.attachments().size() + network.trunks().size()));
  Numbering<std::pair<std::uint32_t, double>> labels;  // NIC's number in its unit, rate
  constexpr std::uint32_t trunk = ~0u;
  const auto add = [&](std::uint32_t a, std::uint32_t b, std::uint32_t place, const Link& link) {
    const double rate = link.rate().bytes_per_second() * link.efficiency.sm;
    const std::uint32_t label = labels({place, rate});
    edges.push_back({a, label, b});
    edges.push_back({b, label, a});
  };
  std::uint32_t cable = 0;
  for (std::uint32_t u = 0; u < fabric.unit_count(); ++u)
    for (std::uint32_t nic = 0; nic < fabric.unit(u).nics().size(); ++nic, ++cable) {
      const NicAttachment& attachment = network.attachments()[cable];
      add(u, fabric.unit_count() + attachment.leaf, nic, attachment.cable);
    }
  for (std::size_t i = 0; i < network.trunks().size(); ++i) {
    const Network::Ends ends = network.trunk_ends()[i];
    add(fabric.unit_count() + ends.a, fabric.unit_count() + ends.b, trunk, network.trunks()[i]);
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.vertex < b.vertex; });
  return edges;
}

/// Colours anew by the old colour and how many cables lead to which colours. Returns how
/// many colours there are.
std::uint32_t refine(const std::vector<Edge>& edges, std::vector<Colour>& colours) {
  Numbering<std::vector<std::uint32_t>> numbers;
  std::vector<Colour> refined(colours.size());
  std::vector<std::pair<std::uint32_t, Colour>> seen;
  auto edge = edges.begin();
  for (std::uint32_t v = 0; v < colours.size(); ++v) {
    seen.clear();
    for (; edge != edges.end() && edge->vertex == v; ++edge)
      seen.emplace_back(edge->label, colours[edge->other]);
    std::sort(seen.begin(), seen.end());
    std::vector<std::uint32_t> signature = {colours[v]};
    for (auto run = seen.begin(); run != seen.end();) {
      const auto end = std::find_if(run, seen.end(), [&](auto& s) { return s != *run; });
      signature.insert(signature.end(),
                       {run->first, run->second, static_cast<std::uint32_t>(end - run)});
      run = end;
    }
    refined[v] = numbers(std::move(signature));
  }
  colours = std::move(refined);
  return numbers.size();
}

}  // namespace

Alike find_alike(const Fabric& fabric, const std::vector<std::uint32_t>& marks) {
  const std::uint32_t units = fabric.unit_count();
  const std::size_t switches = fabric.network().switches().size();
  Numbering<std::tuple<bool, std::uint32_t, std::uint32_t>> first;
  std::vector<Colour> colours;
  for (std::uint32_t u = 0; u < units; ++u)
    colours.push_back(first({true, fabric.template_of(u), marks[u]}));
  for (std::size_t s = 0; s < switches; ++s) colours.push_back(first({false, 0, 0}));

  const std::vector<Edge> edges = edges_of(fabric);
  for (std::uint32_t count = first.size(), before = 0; count != before;) {
    before = count;
    count = refine(edges, colours);
  }

  Alike alike;
  Numbering<Colour> unit_numbers, switch_numbers;
  for (std::uint32_t u = 0; u < units; ++u) alike.of_unit.push_back(unit_numbers(colours[u]));
  for (std::size_t s = 0; s < switches; ++s)
    alike.of_switch.push_back(switch_numbers(colours[units + s]));
  alike.unit_classes = unit_numbers.size();
  alike.switch_classes = switch_numbers.size();
  return alike;
}

}  // namespace isleway
