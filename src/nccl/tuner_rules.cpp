// Which combinations exist, and why others do not.
#include "nccl/tuner_rules.hpp"

#include <fmt/format.h>

#include "nccl/search.hpp"

namespace isleway::nccl {
namespace {

std::string ll128_refused(const ModelPoint& p) {
  const TunerInput& in = p.input;
  const Graph& graph = p.graph();
  if (in.min_sm != in.max_sm) return "LL128 needs GPUs of one kind";
  if (in.min_sm < 70) return "LL128 needs compute capability 7.0 or later";
  const bool far = in.min_sm >= 90 && p.settings.ll128_c2c && p.settings.version >= release(2, 27);
  const PathKind furthest = far ? PathKind::pxn : PathKind::pxb;
  if (graph.type_inter > furthest)
    return fmt::format(
        "LL128 needs NICs within {} of the GPUs; here they are {} away, and such a "
        "path may break up its 128-byte stores",
        name_of(furthest), name_of(graph.type_inter));
  if (graph.type_intra > PathKind::nvb)
    return fmt::format(
        "LL128 needs NVLink between all GPUs of a node; here a hop crosses {}, "
        "which may break up its 128-byte stores",
        name_of(graph.type_intra));
  return {};
}

std::string network_gathers_refused(Collective collective) {
  return fmt::format(
      "CollNet does {} only where the network plugin has it, which this model does not assume",
      name_of(collective));
}

std::string nvls_refused(const ModelPoint& p) {
  const TunerInput& in = p.input;
  if (!p.settings.nvls) return "NVLS is disabled by NCCL_NVLS_ENABLE=0";
  if (in.min_sm < 90)
    return fmt::format(
        "NVLS needs NVSwitches of Hopper or later (compute capability 9.0; here "
        "{}.{})",
        in.min_sm / 10, in.min_sm % 10);
  if (!in.nvls_supported || in.nvls.channels == 0)
    return "NVLS needs NVSwitches with multicast between the GPUs";
  if (in.nvls.channels < 2) return "NVLS needs at least two heads";
  if (p.algorithm == Algorithm::nvls_tree && in.nodes == 1)
    return "NVLS tree needs more than one node; inside one, NVLS does it alone";
  if (p.algorithm == Algorithm::nvls && in.nodes > 1) {
    if (!in.collnet_refused.empty())
      return "NVLS between nodes needs reduction in the network: " + in.collnet_refused;
    if (p.collective != Collective::all_reduce) return network_gathers_refused(p.collective);
  }
  if (p.collective != Collective::all_reduce && p.ranks_per_node() > in.nvls.channels)
    return fmt::format("NVLS gives every rank its own head for {}; there are {} ranks and {} heads",
                       name_of(p.collective), in.ranks, in.nvls.channels);
  return {};
}

std::string direct_refused(const ModelPoint& p) {
  const TunerInput& in = p.input;
  if (!in.collnet_refused.empty()) return in.collnet_refused;
  if (!in.switched) return "CollNet direct needs NVSwitches between the GPUs of a node";
  if (in.most_node_ranks > kMostDirectHeads)
    return fmt::format("CollNet direct serves {} GPUs a node; here are {}", kMostDirectHeads,
                       in.most_node_ranks);
  if (in.collnet_direct.channels == 0)
    return "CollNet direct found no GPU with a NIC of its own that reduces";
  return p.collective == Collective::all_reduce ? "" : network_gathers_refused(p.collective);
}

/// Algorithms of a collective, whatever the machine.
bool exists(Collective collective, Algorithm algorithm) {
  const bool gathers =
      collective == Collective::all_gather || collective == Collective::reduce_scatter;
  const bool all_reduce = collective == Collective::all_reduce;
  switch (algorithm) {
    case Algorithm::ring: return true;
    case Algorithm::tree:
    case Algorithm::collnet_chain:
    case Algorithm::nvls_tree: return all_reduce;
    case Algorithm::collnet_direct:
    case Algorithm::nvls: return all_reduce || gathers;
    case Algorithm::pat: return gathers;
    default: return false;
  }
}

std::string algorithm_refused(const ModelPoint& p) {
  switch (p.algorithm) {
    case Algorithm::collnet_direct: return direct_refused(p);
    case Algorithm::collnet_chain: return p.input.collnet_refused;
    case Algorithm::nvls:
    case Algorithm::nvls_tree: return nvls_refused(p);
    case Algorithm::pat:
      if (p.settings.version < release(2, 23)) return "PAT exists from NCCL 2.23 on";
      if (!p.settings.pat) return "PAT is disabled by NCCL_PAT_ENABLE=0";
      if (p.input.nodes != p.input.ranks) return "PAT needs one rank on every node";
      if (p.input.min_sm < 60) return "PAT needs compute capability 6.0 or later";
      return {};
    default: return {};
  }
}

}  // namespace

const Graph& ModelPoint::graph() const {
  switch (algorithm) {
    case Algorithm::tree:
    case Algorithm::pat: return input.tree;
    case Algorithm::nvls:
    case Algorithm::nvls_tree: return input.nvls;
    case Algorithm::collnet_direct: return input.collnet_direct;
    case Algorithm::collnet_chain: return input.collnet_chain;
    default: return input.ring;
  }
}

int ModelPoint::ring_steps() const {
  switch (collective) {
    case Collective::all_reduce: return 2 * (input.ranks - 1);
    case Collective::all_gather:
    case Collective::reduce_scatter: return input.ranks - 1;
    default: return input.ranks;
  }
}

std::string unavailable(const ModelPoint& p) {
  if (!exists(p.collective, p.algorithm))
    return fmt::format("{} has no {}", name_of(p.collective), name_of(p.algorithm));
  const bool both = p.algorithm == Algorithm::ring || p.algorithm == Algorithm::tree;
  if (!both && p.protocol != Protocol::simple)
    return fmt::format("{} exists in the Simple protocol only", name_of(p.algorithm));
  if (p.input.ranks < 2) return "one rank has nobody to talk to";
  if (std::string why = algorithm_refused(p); !why.empty()) return why;
  if (p.protocol == Protocol::ll128)
    if (std::string why = ll128_refused(p); !why.empty()) return why;
  if (!p.settings.algorithms(p.collective, index_of(p.algorithm))) return "ruled out by NCCL_ALGO";
  if (!p.settings.protocols(p.collective, index_of(p.protocol))) return "ruled out by NCCL_PROTO";
  return {};
}

}  // namespace isleway::nccl
