#include "check/nic_distances.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "check/words.hpp"

namespace isleway::check {
namespace {

constexpr std::size_t kMostDevices = 1024;

Distance distance_of(const std::string& text) {
  for (const Distance d :
       {Distance::pix, Distance::pxb, Distance::phb, Distance::node, Distance::sys})
    if (text == name_of(d)) return d;
  return Distance::none;
}

/// Nothing where the fact is not between a GPU and a NIC. Matrices state each pair once, by
/// either of its rows.
std::optional<std::pair<const std::string*, const std::string*>> gpu_and_nic(const Signal& signal) {
  const bool from_gpu = gpu_number(signal.subject) >= 0, to_gpu = gpu_number(signal.peer) >= 0;
  if (from_gpu == to_gpu || signal.peer.empty()) return {};
  if (from_gpu) return std::pair(&signal.subject, &signal.peer);
  return std::pair(&signal.peer, &signal.subject);
}

std::map<std::string_view, int> positions(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end(), counts_before);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::map<std::string_view, int> positions;
  for (const std::string& name : names) positions.emplace(name, static_cast<int>(positions.size()));
  return positions;
}

}  // namespace

const char* name_of(Distance distance) {
  switch (distance) {
    case Distance::pix: return "PIX";
    case Distance::pxb: return "PXB";
    case Distance::phb: return "PHB";
    case Distance::node: return "NODE";
    case Distance::sys: return "SYS";
    case Distance::none: return "none";
  }
  return "";
}

NicDistances::NicDistances(const NodeFacts& node) {
  const auto facts =
      node.has("topo.link") ? node.named("topo.link") : node.named("declared.distance");
  for (const Fact& fact : facts)
    if (const auto ends = gpu_and_nic(*fact.signal)) {
      gpus_.push_back(*ends->first);
      nics_.push_back(*ends->second);
    }
  const auto gpu_at = positions(gpus_), nic_at = positions(nics_);
  if (gpus_.size() > kMostDevices || nics_.size() > kMostDevices) {
    gpus_.clear();
    nics_.clear();
    return;
  }
  distances_.assign(gpus_.size() * nics_.size(), Distance::none);
  lines_.assign(distances_.size(), nullptr);
  for (const Fact& fact : facts) {
    const auto ends = gpu_and_nic(*fact.signal);
    if (!ends) continue;
    const auto g = gpu_at.find(*ends->first), n = nic_at.find(*ends->second);
    const int cell = g->second * nics() + n->second;
    distances_[cell] = distance_of(value_text(*fact.signal));
    lines_[cell] = fact.signal;
  }
  for (std::string& nic : nics_)
    if (const Signal* name = node.find("nic.name", nic)) nic = value_text(*name);
}

Distance NicDistances::nearest_of_gpu(int g) const {
  Distance nearest = Distance::none;
  for (int n = 0; n < nics(); ++n) nearest = std::min(nearest, at(g, n));
  return nearest;
}

Distance NicDistances::nearest_of_nic(int n) const {
  Distance nearest = Distance::none;
  for (int g = 0; g < gpus(); ++g) nearest = std::min(nearest, at(g, n));
  return nearest;
}

std::vector<int> NicDistances::near_nics(int g) const {
  std::vector<int> near;
  const Distance nearest = nearest_of_gpu(g);
  if (!is_near(nearest)) return near;
  for (int n = 0; n < nics(); ++n)
    if (at(g, n) == nearest) near.push_back(n);
  return near;
}

}  // namespace isleway::check
