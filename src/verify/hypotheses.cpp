// Hypotheses about NCCL's settings.
#include "verify/hypotheses.hpp"

namespace isleway::verify {
namespace {

struct SettingHypothesis {
  const char *key, *title, *remedy, *variable, *value;
};

constexpr SettingHypothesis kSettings[] = {
    {"nvls-off", "NVLS (in-switch reduction) is not used",
     "NCCL_NVLS_ENABLE, NCCL_ALGO; fabric manager; IMEX and NCCL_CUMEM_ENABLE; confidential mode",
     "NCCL_NVLS_ENABLE", "0"},
    {"p2p-off", "copies between GPUs go through the host's memory (SHM)",
     "NCCL_P2P_DISABLE, NCCL_P2P_LEVEL; ACS and IOMMU; peer access of the product",
     "NCCL_P2P_DISABLE", "1"},
    {"gdr-off", "the NICs reach GPU memory only through the host (no GPUDirect RDMA)",
     "nvidia_peermem or dma-buf on every node; NCCL_NET_GDR_LEVEL; ACS", "NCCL_NET_GDR_LEVEL",
     "LOC"},
    {"ll-forced", "the LL protocol is kept for large sizes", "NCCL_PROTO; a tuner plugin",
     "NCCL_PROTO", "LL"},
    {"ll128-off", "the LL128 protocol is not used", "NCCL_PROTO; NVLink on every hop of a node",
     "NCCL_PROTO", "^LL128"},
    {"simple-forced", "the Simple protocol is used for small sizes", "NCCL_PROTO; a tuner plugin",
     "NCCL_PROTO", "SIMPLE"},
    {"ring-forced", "rings are used at every size", "NCCL_ALGO; a tuner plugin", "NCCL_ALGO",
     "RING"},
    {"tree-forced", "trees are used at every size", "NCCL_ALGO; a tuner plugin", "NCCL_ALGO",
     "TREE"},
    {"one-channel", "only one channel is used", "NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS",
     "NCCL_MAX_NCHANNELS", "1"},
    {"four-channels", "only four channels are used", "NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS",
     "NCCL_MAX_NCHANNELS", "4"},
    {"pxn-off", "GPUs do not use the NICs beside their peers (PXN)", "NCCL_PXN_DISABLE",
     "NCCL_PXN_DISABLE", "1"},
    {"mnnvl-off", "hosts of one NVLink domain reach one another over the network",
     "IMEX on every host; NCCL_MNNVL_ENABLE, NCCL_CUMEM_ENABLE", "NCCL_MNNVL_ENABLE", "0"},
};

}  // namespace

void add_setting_hypotheses(const Setup& setup, std::vector<Hypothesis>& all) {
  for (const SettingHypothesis& one : kSettings) {
    if (setup.options.env.contains(one.variable)) continue;
    Setup changed = setup;
    changed.options.env[one.variable] = one.value;
    all.push_back({one.key, one.title, one.remedy, {std::move(changed)}});
  }
  const std::uint32_t gpus = setup.fabric.gpu_count() / std::max(1U, setup.fabric.host_count());
  if (setup.options.launch.gpus_per_process <= 1 && gpus > 1) {
    Setup changed = setup;
    changed.options.launch.gpus_per_process = static_cast<int>(gpus);
    all.push_back({"one-process",
                   "one process drives all GPUs of a node and launches on one after the other",
                   "one process a GPU (mpirun, -g 1), or CUDA graphs (-G 1)",
                   {std::move(changed)}});
  }
}

std::vector<Hypothesis> hypotheses(const Setup& setup, const Parts& parts) {
  std::vector<Hypothesis> all;
  add_setting_hypotheses(setup, all);
  add_link_hypotheses(setup, all);
  if (setup.fabric.unit_count() > 1) add_network_hypotheses(setup, parts, all);
  return all;
}

}  // namespace isleway::verify
