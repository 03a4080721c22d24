// Around the walk: which speeds and path types are tried, in which order, and when to stop.
#include "nccl/search.hpp"

#include <algorithm>

#include "nccl/search_walk.hpp"

namespace isleway::nccl {
namespace {

constexpr long kBudget = 1 << 14, kBudgetSameChannels = 1 << 8, kBudgetTotal = 1 << 19;

PathKind next_kind(PathKind kind, Version version) {
  int next = static_cast<int>(kind) + 1;
  const auto is = [&](PathKind k) { return next == static_cast<int>(k); };
  // NCCL does not know NODE; C2C and P2C are younger than the rest.
  while (is(PathKind::node) || (is(PathKind::c2c) && version < release(2, 26)) ||
         (is(PathKind::p2c) && version < release(2, 27)))
    ++next;
  return static_cast<PathKind>(next);
}

struct Range {
  PathKind least = PathKind::dis, most = PathKind::loc;
};

Range path_range(const System& system, NodeType to) {
  Range range;
  for (const int a : system.of(NodeType::gpu))
    for (const int b : system.of(to)) {
      if (a == b) continue;
      range.least = std::min(range.least, system.path(a, b).type);
      range.most = std::max(range.most, system.path(a, b).type);
    }
  return range;
}

/// Sets of at least two GPUs that NVLink joins.
int nvlink_groups(const System& system) {
  const auto& gpus = system.of(NodeType::gpu);
  std::vector<bool> grouped(gpus.size());
  int groups = 0;
  for (std::size_t a = 0; a < gpus.size(); ++a) {
    if (grouped[a]) continue;
    bool any = false;
    for (std::size_t b = a + 1; b < gpus.size(); ++b)
      if (system.path(gpus[a], gpus[b]).type == PathKind::nvl) grouped[b] = any = true;
    groups += any ? 1 : 0;
  }
  return groups;
}

class Search {
 public:
  Search(System& system, int pattern, SearchLimits limits, const Settings& settings, bool collnet);
  SearchGraph run();

 private:
  /// One walk; true when there is nothing left to gain.
  bool attempt();
  bool relax();
  bool raise_speed();
  void duplicate_channels();
  void start_at(float limit);
  float speed() const { return speeds_[index_]; }
  bool has_network() const { return system_.count(NodeType::net) > 0; }

  System& system_;
  const Settings& settings_;
  SearchGraph best_, next_;
  std::span<const float> speeds_;
  std::size_t index_ = 0;
  float total_ = 0;
  bool try_same_ = true;
  int cross_nic_ = 0;
  Range intra_{PathKind::loc, PathKind::sys}, inter_{PathKind::pix, PathKind::sys};
  long left_ = kBudgetTotal, budget_ = 0;
};

Search::Search(System& system, int pattern, SearchLimits limits, const Settings& settings,
               bool collnet)
    : system_(system), settings_(settings) {
  const int gpus = system.count(NodeType::gpu);
  best_.collnet = collnet;
  best_.min_channels = limits.min_channels;
  best_.max_channels = limits.max_channels;
  best_.pattern =
      gpus == 1 && pattern != ring_pattern && pattern != nvls_pattern ? plain_tree : pattern;
  try_same_ = pattern != nvls_pattern;
  const bool may_cross =
      pattern == ring_pattern || pattern == balanced_tree || pattern == split_tree;
  cross_nic_ = system.count(NodeType::net) > 1 && may_cross ? settings.cross_nic : 0;
  if (gpus > 1) intra_ = path_range(system, NodeType::gpu);
  if (has_network()) inter_ = path_range(system, NodeType::net);
  if (pattern == nvls_pattern) {
    best_.max_channels = std::min({limits.max_channels, most_nvls_heads(settings.version), gpus});
    // Inside one node all GPUs shall be heads, so that each gives its share.
    if (!has_network()) best_.min_channels = best_.max_channels;
  }
  // Two groups of GPUs that only a slower link joins: a tree of two channels is likely to
  // win, and it has as many as the ring.
  if (pattern == ring_pattern && best_.min_channels == 1 && best_.max_channels >= 2 &&
      nvlink_groups(system) == 2)
    best_.min_channels = 2;
  if (pattern == collnet_direct_pattern)
    best_.max_channels = std::min({limits.max_channels, kMostDirectHeads, gpus});
  best_.type_intra = intra_.least;
  best_.type_inter = inter_.least;
  best_.same_channels = try_same_;
  best_.cross_nic = cross_nic_ == 1 ? 1 : 0;
  speeds_ = candidate_speeds(system.min_sm(), has_network(), settings.version);
  total_ = system.total_bandwidth;
  if (gpus > 1 && pattern != ring_pattern)
    total_ *= static_cast<float>(gpus) / static_cast<float>(gpus - 1);
  next_ = best_;
}

void Search::start_at(float limit) {
  index_ = 0;
  while (index_ + 1 < speeds_.size() && speed() > limit) ++index_;
  next_.bw_intra = next_.bw_inter = speed();
}

bool Search::attempt() {
  budget_ = next_.same_channels ? kBudgetSameChannels : kBudget;
  left_ -= budget_;
  next_.channels = 0;
  SearchWalk walk(system_, next_, best_, budget_);
  walk.run();
  budget_ = walk.budget();
  if (walk.complete()) return true;
  return static_cast<float>(best_.channels) * best_.bw_inter >= system_.total_bandwidth;
}

/// Loosens one condition, or starts over at a lower speed. False: nothing is left to try.
bool Search::relax() {
  const bool through_amd = system_.arch() == CpuArch::x86 && system_.vendor() == CpuVendor::amd &&
                           next_.type_intra == PathKind::sys;
  if (next_.same_channels && !through_amd) {
    next_.same_channels = false;
    return true;
  }
  next_.same_channels = try_same_;
  left_ += budget_;
  if (left_ < 0 && best_.channels > 0) return false;

  if (system_.min_sm() >= 90 && next_.pattern == balanced_tree) {
    next_.pattern = plain_tree;
    return true;
  }
  next_.pattern = best_.pattern;

  const PathKind furthest = has_network() ? next_.type_inter : intra_.most;
  if (next_.type_intra < furthest && (best_.channels == 0 || next_.type_intra < best_.type_intra)) {
    next_.type_intra = next_kind(next_.type_intra, settings_.version);
    return true;
  }
  next_.type_intra = intra_.least;

  if (has_network() && next_.type_inter < inter_.most &&
      (best_.channels == 0 || next_.type_inter < best_.type_inter ||
       next_.type_inter < PathKind::pxn)) {
    next_.type_inter = next_kind(next_.type_inter, settings_.version);
    return true;
  }
  next_.type_inter = inter_.least;

  const bool crosses = best_.pattern == ring_pattern || best_.pattern == balanced_tree;
  if (cross_nic_ == 2 && next_.cross_nic == 0 && crosses) {
    next_.cross_nic = 2;
    return true;
  }
  next_.cross_nic = cross_nic_ == 1 ? 1 : 0;

  if (index_ + 1 < speeds_.size() &&
      (best_.channels == 0 || speeds_[index_ + 1] / best_.bw_inter > .49F)) {
    ++index_;
    next_.bw_intra = next_.bw_inter = speed();
    return true;
  }
  return false;
}

void Search::duplicate_channels() {
  SearchGraph& g = best_;
  if (g.channels == 0 || g.pattern == nvls_pattern || g.bw_intra < 25) return;
  if (system_.min_sm() > 80 && g.bw_intra < 50 && g.channels > 4) return;
  const int all = std::min(g.channels * 2, g.max_channels);
  g.intra.resize(g.channels);
  g.inter.resize(g.channels);
  for (int c = g.channels; c < all; ++c) {
    g.intra.push_back(g.intra[c - g.channels]);
    g.inter.push_back(g.inter[c - g.channels]);
  }
  const float parts = static_cast<float>((all + g.channels - 1) / g.channels);
  g.bw_intra /= parts;
  g.bw_inter /= parts;
  g.channels = all;
}

/// The next higher speed for what this pattern can still gain. False: it cannot.
bool Search::raise_speed() {
  if (budget_ == 0 || index_ == 0) return false;
  if (best_.pattern == ring_pattern) {
    next_.bw_intra = next_.bw_inter = speeds_[--index_];
    return true;
  }
  if (best_.pattern == nvls_pattern && next_.bw_inter == best_.bw_inter &&
      next_.bw_inter < next_.bw_intra * 2) {
    next_.min_channels = next_.max_channels = best_.channels;
    next_.bw_inter = speeds_[--index_];
    return true;
  }
  if (next_.bw_intra == best_.bw_intra && next_.bw_intra < next_.bw_inter * 2) {
    next_.bw_intra = speeds_[--index_];
    return true;
  }
  return false;
}

SearchGraph Search::run() {
  while (index_ + 1 < speeds_.size() && (speed() > system_.max_bandwidth ||
                                         speed() * static_cast<float>(best_.min_channels) > total_))
    ++index_;
  next_.bw_intra = next_.bw_inter = speed();
  while (!attempt() && relax()) {
  }
  budget_ = -1;
  duplicate_channels();
  next_ = best_;
  start_at(best_.bw_inter);
  next_.min_channels = best_.channels;
  while (raise_speed()) attempt();

  if (best_.channels == 0 && best_.pattern != nvls_pattern && !best_.collnet) {
    best_.make_room(system_.count(NodeType::gpu));
    for (int i = 0; i < system_.count(NodeType::gpu); ++i) best_.intra[0][i] = system_.gpu(i).rank;
    best_.bw_intra = best_.bw_inter = .1F;
    best_.type_intra = best_.type_inter = PathKind::sys;
    best_.channels = 1;
  }
  best_.intra.resize(best_.channels);
  best_.inter.resize(best_.channels);
  return best_;
}

}  // namespace

void SearchGraph::make_room(int gpus) {
  if (static_cast<int>(intra.size()) > channels) return;
  intra.resize(channels + 1, std::vector<int>(gpus, 0));
  inter.resize(channels + 1, {-1, -1});
}

SearchGraph search_graph(System& system, int pattern, SearchLimits limits, const Settings& settings,
                         bool collnet) {
  const bool switched = system.count(NodeType::nvs) > 0;
  if (pattern == nvls_pattern && (!switched || system.min_sm() < 90)) {
    SearchGraph none;
    none.pattern = pattern;
    return none;
  }
  return Search(system, pattern, limits, settings, collnet).run();
}

}  // namespace isleway::nccl
