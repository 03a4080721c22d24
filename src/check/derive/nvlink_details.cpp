// What the other outputs about NVLink say: capabilities, the switches behind the links, error
// counters, DCGM's bit mask.
#include <algorithm>
#include <map>
#include <set>

#include "check/derivation.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

using Words = std::vector<std::pair<std::string, std::string>>;
using Lines = std::vector<const Signal*>;

void add(NodeFacts& node, const char* name, std::string subject, double value, Lines from,
         Words words = {}) {
  node.add(Derived{
      {name, std::move(subject), "", value, "", {}, ""}, std::move(from), std::move(words)});
}

void capabilities(NodeFacts& node) {
  std::map<std::string, Lines> link_false, p2p_false, all;
  std::map<std::string, bool> good;
  for (const Fact& fact : node.named("nvlink.capability")) {
    const Signal& signal = *fact.signal;
    const std::string gpu(device_of(signal.subject));
    const bool is_true = number_of(signal) > 0;
    if (signal.peer == "P2P") all[gpu].push_back(&signal);
    if (is_true) continue;
    if (signal.peer == "Link") link_false[gpu].push_back(&signal);
    else good[gpu] = false;
    if (signal.peer == "P2P") p2p_false[gpu].push_back(&signal);
  }
  for (const auto& [gpu, lines] : link_false)
    add(node, "nvlink.capability_link_false", gpu, double(lines.size()), lines);
  for (const auto& [gpu, lines] : p2p_false)
    add(node, "nvlink.capability_p2p_false", gpu, double(lines.size()), lines);
  for (const auto& [gpu, lines] : all)
    if (good.count(gpu) == 0)
      add(node, "nvlink.capability_good", gpu, double(lines.size()), {lines[0]});
}

/// Links are spread as evenly as they divide: 5, 5, 4, 4.
void remote_split(NodeFacts& node) {
  std::map<std::string, std::map<std::string, int>> switches_of;
  std::map<std::string, Lines> lines;
  for (const Fact& fact : node.named("nvlink.remote")) {
    const std::string gpu(device_of(fact.signal->subject));
    ++switches_of[gpu][fact.signal->peer];
    lines[gpu].push_back(fact.signal);
  }
  for (const auto& [gpu, switches] : switches_of) {
    if (switches.size() < 2) continue;
    int least = 1 << 20, most = 0, all = 0;
    std::string split;
    std::vector<int> counts;
    for (const auto& [address, count] : switches) {
      least = std::min(least, count);
      most = std::max(most, count);
      all += count;
      counts.push_back(count);
      split += (split.empty() ? "" : ", ") + std::to_string(count) + " to " + address;
    }
    const Product* product = node.product_of(gpu);
    const bool is_direct = product && product->wiring == Wiring::direct;
    add(node, most - least <= 1 || is_direct ? "nvlink.remote_even" : "nvlink.remote_uneven", gpu,
        all, lines[gpu], {{"switches", std::to_string(switches.size())}, {"split", split}});
  }
}

void clean_counters(NodeFacts& node) {
  std::set<std::string> links;
  const Signal* first = nullptr;
  for (const std::string_view name : node.names_like("nvlink.*_errors"))
    for (const Fact& fact : node.named(name)) {
      if (name == "nvlink.fec_errors") continue;
      if (number_of(*fact.signal) > 0) return;
      links.insert(fact.signal->subject);
      if (!first) first = fact.signal;
    }
  if (first) add(node, "nvlink.counters_clean", "", double(links.size()), {first});
}

/// One bit a peer.
void bitmap(NodeFacts& node) {
  const auto facts = node.named("nvlink.p2p_bitmap");
  const double shown =
      static_cast<double>(std::max<std::size_t>(facts.size(), node.products.size()));
  for (const Fact& fact : facts) {
    const double value = number_of(*fact.signal);
    const int own = gpu_number(fact.signal->subject);
    if (!(value >= 0) || value > 1e15 || own < 0 || own > 50) continue;
    const auto bits = static_cast<std::uint64_t>(value) | (std::uint64_t{1} << own);
    int width = 0;
    while (width < 60 && (bits >> width) != 0) ++width;
    width = std::max(width, static_cast<int>(shown));
    std::vector<std::string> peers, missing;
    for (int bit = 0; bit < width; ++bit) {
      if (bit == own) continue;
      ((bits >> bit) & 1 ? peers : missing).push_back(std::to_string(bit));
    }
    add(node, missing.empty() ? "nvlink.bitmap_full" : "nvlink.bitmap_gap", fact.signal->subject,
        double(peers.size()), {fact.signal},
        {{"peers", list_text(peers)},
         {"missing", list_text(missing)},
         {"bitmap", value_text(*fact.signal)}});
  }
}

/// DCGM's complaint is about links that are down, and every link of the GPU is named.
void dcgm_down_only(NodeFacts& node) {
  std::map<std::string, Lines> down;
  bool any_up = false;
  for (const Fact& fact : node.named("nvlink.state")) {
    const std::string state = value_text(*fact.signal);
    if (state == "active") any_up = true;
    if (state == "inactive")
      down[std::string(device_of(fact.signal->subject))].push_back(fact.signal);
  }
  for (const Fact& fact : node.named("nvlink.active")) any_up |= number_of(*fact.signal) > 0;
  if (any_up || down.empty() || down.size() > 1 || !node.has("dcgm.health")) return;
  for (const Fact& fact : node.named("dcgm.health"))
    if (!fact.signal->peer.empty() && fact.signal->peer != "overall" &&
        !is_like(fact.signal->peer, "*nvlink*") && !is_like(value_text(*fact.signal), "healthy"))
      return;
  const auto& [gpu, lines] = *down.begin();
  const Product* product = node.product_of(gpu);
  if (product && product->wiring != Wiring::bridge && product->wiring != Wiring::none) return;
  add(node, "dcgm.only_nvlink_down", gpu, double(lines.size()), lines);
}

void derive_nvlink_details(Facts& facts, const Input&, const Context&) {
  for (NodeFacts& node : facts.nodes()) {
    capabilities(node);
    remote_split(node);
    clean_counters(node);
    bitmap(node);
    dcgm_down_only(node);
  }
}

}  // namespace

extern const Derivation nvlink_details_derivation;
const Derivation nvlink_details_derivation = {"NVLink: capabilities, switches, counters",
                                              derive_nvlink_details};

}  // namespace isleway::check
