// In which order a walk tries GPUs and ports: what makes NCCL's choice among equals.
#include <algorithm>

#include "nccl/search_walk.hpp"

namespace isleway::nccl {
namespace {

struct Score {
  int gpu = 0, start = 0;
  int intra_hops = 0, inter_hops = 0;
  int intra_bw = 0, inter_bw = 0, inter_pci_bw = 0;  // whole GB/s, as they are compared
};

bool before(const Score& a, const Score& b) {
  if (a.inter_bw != b.inter_bw) return a.inter_bw > b.inter_bw;
  if (a.inter_pci_bw != b.inter_pci_bw) return a.inter_pci_bw > b.inter_pci_bw;
  if (a.inter_hops != b.inter_hops) return a.inter_hops < b.inter_hops;
  if (a.intra_bw != b.intra_bw) return a.intra_bw > b.intra_bw;
  if (a.intra_hops != b.intra_hops) return a.intra_hops < b.intra_hops;
  return a.start < b.start;
}

/// What a GPU's PCIe link has left, the worse direction.
float pci_left(const System& system, int gpu) {
  for (const int wire : system.node(gpu).wires)
    if (system.wire(wire).type == WireType::pci)
      return std::min(system.wire(wire).bandwidth, system.wire(system.wire(wire).back).bandwidth);
  return 0;
}

}  // namespace

int SearchWalk::replayed_gpu(int step) const {
  return position_of(attempt_.intra[attempt_.channels - 1][step + 1]);
}

void SearchWalk::next_gpus(int gpu, int sort_by_net, Candidates& next) const {
  if (system_.count(NodeType::nvs) > 0) return neighbours(gpu, next);
  const std::uint64_t flag = std::uint64_t{1} << attempt_.channels;
  const int net = sort_by_net != 0 ? attempt_.inter[attempt_.channels].first : -1;
  std::vector<Score> scores;
  for (int i = 1; i < gpus_; ++i) {
    const int other = (gpu + i) % gpus_;
    const SystemPath& path = system_.path(gpu_node(gpu), gpu_node(other));
    if (path.wires.empty() || (used_[other] & flag) != 0) continue;
    Score score;
    score.gpu = other;
    score.start = i;
    score.intra_hops = static_cast<int>(path.wires.size());
    score.intra_bw = static_cast<int>(path.bandwidth);
    if (net >= 0) {
      const SystemPath& out = system_.path(net, gpu_node(other));
      score.inter_hops = static_cast<int>(out.wires.size());
      score.inter_bw = static_cast<int>(out.bandwidth);
      score.inter_pci_bw = static_cast<int>(pci_left(system_, gpu_node(other)));
    }
    scores.push_back(score);
  }
  std::sort(scores.begin(), scores.end(), before);
  const bool alike = std::all_of(scores.begin(), scores.end(), [&](const Score& s) {
    return s.intra_bw == scores[0].intra_bw && s.intra_hops == scores[0].intra_hops;
  });
  // Away from the port first, where only the distance to it tells GPUs apart.
  if (sort_by_net == -1 && alike) std::reverse(scores.begin(), scores.end());
  for (const Score& score : scores) next.push_back(score.gpu);
}

/// NVSwitches do best when each GPU talks to few others: neighbours by number, no others.
void SearchWalk::neighbours(int gpu, Candidates& next) const {
  const std::uint64_t flag = std::uint64_t{1} << attempt_.channels;
  const int previous = (gpu - 1 + gpus_) % gpus_, following = (gpu + 1) % gpus_;
  const auto add = [&](int other) {
    if (other != gpu && (used_[other] & flag) == 0 &&
        !system_.path(gpu_node(gpu), gpu_node(other)).wires.empty())
      next.push_back(other);
  };
  switch (attempt_.pattern) {
    case ring_pattern:
      add(previous);
      if (following != previous) add(following);
      break;
    case balanced_tree:
    case split_tree:
      add(following);
      if (following != previous) add(previous);
      break;
    default: add(following);
  }
}

const std::vector<int>& SearchWalk::ports_of(int gpu) {
  auto& known = ports_of_[gpu];
  if (!known) known = find_ports(gpu, gpu + 1);
  return *known;
}

/// Each GPU's own ports first, then others by distance up to what is allowed.
std::vector<int> SearchWalk::find_ports(int first, int last) const {
  std::vector<int> nets;
  std::vector<bool> added(system_.node_count());
  const auto add = [&](int net) {
    if (!added[net]) nets.push_back(net);
    added[net] = true;
  };
  for (int gpu = first; gpu < last; ++gpu)
    for (const int net : system_.own_nets(gpu)) add(net);
  const std::size_t all = system_.of(NodeType::net).size();
  for (int type = 0; type <= static_cast<int>(attempt_.type_inter); ++type)
    for (int gpu = first; gpu < last && nets.size() < all; ++gpu)
      for (const int net : system_.of(NodeType::net))
        if (static_cast<int>(system_.path(gpu_node(gpu), net).type) == type) add(net);
  return nets;
}

}  // namespace isleway::nccl
