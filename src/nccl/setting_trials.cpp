#include "nccl/setting_trials.hpp"

#include <algorithm>

#include "nccl/settings.hpp"

namespace isleway::nccl {
namespace {

/// Gathers settings, leaving out what the user has set.
class Trials {
 public:
  explicit Trials(const Options& options) : options_(options) {}

  void add(const char* name, std::string value) {
    if (!options_.env.contains(name)) all_.emplace_back(name, std::move(value));
  }
  /// Half and twice of what is in force.
  void add_around(const char* name, std::int64_t now, std::int64_t most) {
    if (now > 1) add(name, std::to_string(now / 2));
    if (now * 2 <= most) add(name, std::to_string(now * 2));
  }
  std::vector<Setting> take() { return std::move(all_); }

 private:
  const Options& options_;
  std::vector<Setting> all_;
};

void add_choices(Trials& trials, const Communicator& communicator, const BenchCall& call,
                 const Decision& decision) {
  if (call.algorithm || call.protocol) return;  // forced
  // Which candidates there are does not depend on the size.
  const CollectiveCall collective{
      call.collective, {1 << 20, call.type.bytes}, communicator.ranks(), call.root};
  std::vector<Algorithm> algorithms;
  for (const Candidate& candidate : communicator.candidates(collective)) {
    if (!candidate.estimate || candidate.algorithm == decision.algorithm) continue;
    if (std::find(algorithms.begin(), algorithms.end(), candidate.algorithm) != algorithms.end())
      continue;
    algorithms.push_back(candidate.algorithm);
    trials.add("NCCL_ALGO", name_of(candidate.algorithm));
  }
  for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple})
    if (protocol != decision.protocol) trials.add("NCCL_PROTO", name_of(protocol));
}

void add_network(Trials& trials) {
  for (const char* level : {"LOC", "PIX", "PHB", "SYS"}) trials.add("NCCL_NET_GDR_LEVEL", level);
  trials.add("NCCL_CROSS_NIC", "0");
  trials.add("NCCL_CROSS_NIC", "1");
  trials.add("NCCL_PXN_DISABLE", "1");
  trials.add("NCCL_IB_QPS_PER_CONNECTION", "4");
}

}  // namespace

std::vector<Setting> setting_trials(const Fabric& fabric, const Options& options,
                                    const Communicator& communicator, const BenchCall& call,
                                    const Decision& decision) {
  Trials trials(options);
  add_choices(trials, communicator, call, decision);
  constexpr std::int64_t kMostChannels = 64, kMostThreads = 1024;
  constexpr std::int64_t kBuffer = 4 << 20, kMostBuffer = 64 << 20;
  const bool nvls =
      decision.algorithm == Algorithm::nvls || decision.algorithm == Algorithm::nvls_tree;
  if (is_tuned(call.collective)) {
    if (nvls) {
      trials.add_around("NCCL_NVLS_NCHANNELS", decision.channels, kMostChannels);
    } else {
      if (decision.channels > 1)
        trials.add("NCCL_MAX_NCHANNELS", std::to_string(decision.channels / 2));
      if (2 * communicator.collective_channels() <= kMostChannels)
        trials.add("NCCL_MIN_NCHANNELS", std::to_string(2 * communicator.collective_channels()));
    }
    if (decision.protocol == Protocol::ll128)
      trials.add_around("NCCL_LL128_NTHREADS", 640, kMostThreads);
    else trials.add_around("NCCL_NTHREADS", 512, kMostThreads);
  } else {
    trials.add_around("NCCL_MAX_P2P_NCHANNELS", decision.channels, kMostChannels);
    trials.add("NCCL_NCHANNELS_PER_NET_PEER", "4");
    trials.add_around("NCCL_P2P_NVL_CHUNKSIZE", 512 << 10, kMostBuffer);
    trials.add_around("NCCL_P2P_NET_CHUNKSIZE", 128 << 10, kMostBuffer);
  }
  if (nvls) trials.add_around("NCCL_NVLS_CHUNKSIZE", 128 << 10, kMostBuffer);
  else if (decision.protocol == Protocol::simple)
    trials.add_around("NCCL_BUFFSIZE", kBuffer, kMostBuffer);
  trials.add("NCCL_NVLS_ENABLE", "0");
  trials.add("NCCL_P2P_DISABLE", "1");
  trials.add("NCCL_P2P_LEVEL", "SYS");
  trials.add("NCCL_NVB_DISABLE", "1");
  trials.add("NCCL_PAT_ENABLE", "0");
  if (fabric.host_count() > 1) {
    trials.add("NCCL_MNNVL_ENABLE", "0");
    add_network(trials);
  }
  return trials.take();
}

}  // namespace isleway::nccl
