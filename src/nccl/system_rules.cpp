// Where bytes may really go: peer access, GPUDirect RDMA, PXN.
#include "nccl/system.hpp"

namespace isleway::nccl {

bool System::peers(int gpu_a, int gpu_b, const Settings& settings) const {
  if (gpu_a == gpu_b) return true;
  const int a = of(NodeType::gpu)[gpu_a], b = of(NodeType::gpu)[gpu_b];
  const SystemPath& between = path(a, b);
  if (!settings.p2p) return false;
  PathKind furthest = PathKind::pxb;
  if (arch() == CpuArch::x86 && vendor() == CpuVendor::amd && count(NodeType::gpu) <= 2)
    furthest = PathKind::sys;
  return between.type <= settings.p2p_level.value_or(furthest);
}

/// Without peer access bytes go through the memory of the NUMA node next to the source.
void System::apply_peer_access(const Settings& settings) {
  const int gpus = count(NodeType::gpu);
  for (int to = 0; to < gpus; ++to)
    for (int from = 0; from < gpus; ++from) {
      if (peers(from, to, settings)) continue;
      const int source = of(NodeType::gpu)[from];
      const std::vector<int> cpus = nearest(source, NodeType::cpu);
      if (!cpus.empty()) detour(of(NodeType::cpu)[cpus[0]], source, of(NodeType::gpu)[to]);
    }
}

void System::apply_network_rules(const Settings& settings) {
  const PathKind pxn_reach = settings.pxn_c2c ? PathKind::p2c : PathKind::pxb;
  const PathKind gdr_reach = settings.gdr_level.value_or(PathKind::pxb);
  for (const int net : of(NodeType::net)) {
    const int helper = local_gpu(net);
    nodes_[net].local_gpu = helper;
    for (int g = 0; g < count(NodeType::gpu); ++g) {
      const int gpu = of(NodeType::gpu)[g];
      if (settings.pxn && helper >= 0 && helper != g) {
        const int relay = of(NodeType::gpu)[helper];
        const SystemPath& its = path(relay, net);
        const SystemPath& own = path(gpu, net);
        if (its.type <= pxn_reach && path(relay, gpu).type <= PathKind::nvl &&
            nodes_[relay].host == nodes_[gpu].host &&
            (its.bandwidth > own.bandwidth || own.type > PathKind::pxn))
          detour(relay, gpu, net);
      }
      // Without GPUDirect RDMA the NIC works on host memory.
      PathKind distance = path(gpu, net).type;
      if (distance == PathKind::pxn) distance = path(of(NodeType::gpu)[helper], net).type;
      if (distance == PathKind::p2c && settings.net_gdr_c2c) distance = PathKind::c2c;
      const bool direct = nodes_[gpu].gpudirect && nodes_[net].gpudirect && distance <= gdr_reach;
      const std::vector<int> cpus = nearest(gpu, NodeType::cpu);
      if (!direct && !cpus.empty()) {
        const int cpu = of(NodeType::cpu)[cpus[0]];
        detour(cpu, net, gpu);
        detour(cpu, gpu, net);
      }
    }
  }
}

}  // namespace isleway::nccl
