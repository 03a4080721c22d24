#include "isleway/nccl/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isleway/collective/network_tree.hpp"
#include "isleway/formats/algorithm.hpp"
#include "nccl/measured.hpp"
#include "nccl/point_to_point.hpp"
#include "nccl/program_wiring.hpp"
#include "nccl/tuner_input.hpp"
#include "nccl/wiring.hpp"

namespace isleway::nccl {
namespace {

Result<Timing> read_timing(const Parts& parts, const Fabric& fabric, const TunerInput& input,
                           Version version) {
  return Timing::read(parts, tuning_tables(version).architecture(input.min_sm),
                      input.nodes > 1 ? fabric.network().plan().technology : "");
}

class SearchedCommunicator final : public Communicator {
 public:
  SearchedCommunicator(const Fabric& fabric, Settings settings, Graphs graphs, TunerInput input,
                       Timing timing, LaunchModel launch)
      : fabric_(fabric),
        settings_(std::move(settings)),
        graphs_(std::move(graphs)),
        tuner_(std::move(input), settings_),
        timing_(timing),
        launch_(launch) {}

  std::optional<MeasuredRange> measured() const override;
  Time host_time(const CollectiveCall& call) const override;
  Time skew(const Decision& decision, Time moving) const override {
    if (decision.channels == 1) return Time();
    return Time::seconds(std::sqrt(timing_.drift.seconds() * moving.seconds()));
  }
  /// Calls of a group are launched together, so one process keeps its GPUs in step.
  Result<bool> retime(const Parts& parts) override;

  int ranks() const override { return graphs_.ranks(); }
  int nodes() const override { return static_cast<int>(graphs_.nodes.size()); }
  const Graph& ring() const override { return graphs_.ring; }
  const Graph& tree() const override { return graphs_.tree; }
  const Graph* nvls() const override { return graphs_.nvls_supported ? &graphs_.nvls : nullptr; }
  int collective_channels() const override { return graphs_.channels; }
  std::vector<std::string> remarks() const override;

  Result<Decision> decide(const CollectiveCall& call, std::optional<Algorithm> algorithm,
                          std::optional<Protocol> protocol) const override;
  std::vector<Candidate> candidates(const CollectiveCall& call) const override;
  Result<std::unique_ptr<Schedule>> schedule(const CollectiveCall& call,
                                             const Decision& decision) const override;
  std::unique_ptr<Wiring> wiring(const CollectiveCall& call,
                                 const Decision& decision) const override {
    return std::make_unique<NcclWiring>(context(), call, decision);
  }
  Result<Decision> program_decision(const formats::Algorithm& algorithm) const override;
  std::unique_ptr<Wiring> program_wiring(const formats::Algorithm& algorithm,
                                         const CollectiveCall& call,
                                         const Decision& decision) const override {
    return std::make_unique<ProgramWiring>(context(), call, decision, algorithm.one_sided);
  }

 private:
  NcclWiring::Context context() const { return {fabric_, graphs_, settings_, timing_}; }
  /// That the busiest rank sends to or receives from.
  static int peers(const CollectiveCall& call) {
    return call.collective == Collective::sendrecv ? 1 : call.ranks;
  }
  std::int64_t bytes_per_peer(const CollectiveCall& call) const {
    const std::int64_t all = call.size.output_bytes(call.collective, call.ranks);
    const bool divided =
        call.collective == Collective::all_to_all || call.collective == Collective::gather;
    return divided ? all / std::max(1, call.ranks) : all;
  }
  Decision decide_peers(const CollectiveCall& call) const;
  Error why_none(const CollectiveCall& call, std::optional<Algorithm> algorithm,
                 std::optional<Protocol> protocol) const;
  std::vector<std::vector<int>> islands() const {
    std::vector<std::vector<int>> islands;
    for (const NcclNode& node : graphs_.nodes) islands.push_back(node.ranks);
    return islands;
  }

  const Fabric fabric_;
  Settings settings_;
  Graphs graphs_;
  Tuner tuner_;
  Timing timing_;
  LaunchModel launch_;
};

std::optional<MeasuredRange> SearchedCommunicator::measured() const {
  if (fabric_.device(fabric_.gpu(0)).gpu().amd) return {};
  const bool several = nodes() > 1;
  const bool racks = fabric_.host_count() > static_cast<std::uint32_t>(nodes());
  const Setting setting = racks ? (several ? Setting::several_racks : Setting::rack)
                                : (several ? Setting::several_nodes : Setting::one_node);
  return measured_range(tuner_.input().min_sm, setting);
}

Time SearchedCommunicator::host_time(const CollectiveCall& call) const {
  Time each = timing_.host;
  if (launch_.cuda_graph) each -= std::min(each, timing_.graph_saving);
  if (!is_tuned(call.collective)) each += timing_.host_peer * peers(call);
  return each * launch_.gpus_per_process;
}

Result<bool> SearchedCommunicator::retime(const Parts& parts) {
  const auto timing = read_timing(parts, fabric_, tuner_.input(), settings_.version);
  if (!timing) return tl::unexpected(timing.error());
  const bool changed = *timing != timing_;
  timing_ = *timing;
  return changed;
}

std::vector<std::string> SearchedCommunicator::remarks() const {
  std::vector<std::string> all = settings_.remarks;
  if (fabric_.device(fabric_.gpu(0)).gpu().amd)
    all.push_back(
        "AMD GPUs are decided as NCCL would decide, which knows no xGMI links: what RCCL "
        "chooses and reaches is not modelled");
  const bool racks = nodes() > 1 && fabric_.host_count() > static_cast<std::uint32_t>(nodes());
  if (racks)
    all.push_back(
        "several NVLink domains of many hosts over a network: choice and time do not agree "
        "with what is known of such racks, and come out too fast; see docs/accuracy.md");
  return all;
}

Decision SearchedCommunicator::decide_peers(const CollectiveCall& call) const {
  const PeerPlan plan = plan_peers(graphs_, settings_, bytes_per_peer(call));
  Decision decision;
  decision.algorithm = Algorithm::p2p;
  decision.protocol = plan.protocol;
  decision.channels = plan.channels;
  decision.chunking = plan.chunking;
  return decision;
}

/// Of a connection's buffer, messages take a quarter with the Simple protocol, else a slot.
Result<Decision> SearchedCommunicator::program_decision(const formats::Algorithm& algorithm) const {
  const auto protocol = parse_protocol(algorithm.protocol);
  if (!protocol) return tl::unexpected(protocol.error());
  Decision decision;
  decision.algorithm = Algorithm::p2p;
  decision.protocol = *protocol;
  decision.channels = algorithm.channels;
  const std::int64_t slots = *protocol == Protocol::simple ? kSlots / 4 : 1;
  const std::int64_t bytes = slots * slot_bytes(tuner_.input(), settings_, *protocol);
  decision.chunking.chunk_bytes = decision.chunking.slice_bytes = std::max<std::int64_t>(16, bytes);
  return decision;
}

/// The first reason that applies to what was asked for.
Error SearchedCommunicator::why_none(const CollectiveCall& call, std::optional<Algorithm> algorithm,
                                     std::optional<Protocol> protocol) const {
  Error error;
  error.what = fmt::format("no algorithm is left for {}", name_of(call.collective));
  for (std::size_t a = 0; a < kAlgorithmCount; ++a) {
    const auto which = static_cast<Algorithm>(a);
    if (algorithm ? *algorithm != which
                  : settings_.algorithms.is_named(call.collective) &&
                        !settings_.algorithms(call.collective, a))
      continue;
    // The Simple protocol has the fewest conditions, so its reason is the algorithm's own.
    const Price& price = tuner_.price(call.collective, which, protocol.value_or(Protocol::simple));
    if (price.why_not.empty()) continue;
    error.what += fmt::format(": {} cannot be used, {}", name_of(which), price.why_not);
    break;
  }
  error.hint = "leave the algorithm and the protocol to NCCL's own choice";
  return error;
}

Result<Decision> SearchedCommunicator::decide(const CollectiveCall& call,
                                              std::optional<Algorithm> algorithm,
                                              std::optional<Protocol> protocol) const {
  if (!is_tuned(call.collective)) {
    if (algorithm && *algorithm != Algorithm::p2p)
      return fail(fmt::format("{} is made of sends and receives; {} cannot be used",
                              name_of(call.collective), name_of(*algorithm)),
                  "no algorithm");
    return decide_peers(call);
  }
  if (ranks() == 1) {
    Decision decision;
    decision.chunking = {2 << 20, 1 << 20};
    return decision;
  }
  const std::int64_t bytes = call.size.bytes;
  const auto choice = tuner_.choose(call.collective, bytes, algorithm, protocol);
  if (!choice) return tl::unexpected(why_none(call, algorithm, protocol));
  const LaunchPlan plan = plan_launch(tuner_.input(), settings_, call.collective, choice->algorithm,
                                      choice->protocol, bytes);
  Decision decision;
  decision.algorithm = choice->algorithm;
  decision.protocol = choice->protocol;
  decision.channels = plan.channels;
  decision.threads = plan.threads;
  decision.chunking.chunk_bytes = plan.chunk_bytes / 16 * 16;
  decision.chunking.slice_bytes = plan.slice_bytes;
  decision.chunking.share_unit_bytes = plan.cell_bytes;
  decision.estimate = Time::us(choice->time);
  return decision;
}

std::vector<Candidate> SearchedCommunicator::candidates(const CollectiveCall& call) const {
  std::vector<Candidate> all;
  if (!is_tuned(call.collective)) return all;
  for (std::size_t a = 0; a < kAlgorithmCount; ++a)
    for (std::size_t p = 0; p < kProtocolCount; ++p) {
      const auto algorithm = static_cast<Algorithm>(a);
      const auto protocol = static_cast<Protocol>(p);
      Candidate candidate{algorithm, protocol, {}, {}};
      if (const auto us = tuner_.time(call.collective, algorithm, protocol, call.size.bytes))
        candidate.estimate = Time::us(*us);
      else candidate.why_not = tuner_.price(call.collective, algorithm, protocol).why_not;
      all.push_back(std::move(candidate));
    }
  return all;
}

Result<std::unique_ptr<Schedule>> SearchedCommunicator::schedule(const CollectiveCall& call,
                                                                 const Decision& decision) const {
  const Chunking chunking = wire_chunking(call, decision);
  switch (decision.algorithm) {
    case Algorithm::pat: return make_pat(call, decision.channels, chunking);
    case Algorithm::ring:
      if (ranks() == 1) return make_simple_ring(call, decision.channels, chunking);
      return make_ring(call, global_rings(graphs_, decision.channels), chunking);
    case Algorithm::tree:
      return make_tree(call, global_trees(graphs_, decision.channels), chunking);
    case Algorithm::nvls:
      if (nodes() > 1)
        return make_network_nvls(call, decision.channels, islands(), graphs_.nvls.channels,
                                 chunking);
      [[fallthrough]];
    case Algorithm::nvls_tree:
      return make_nvls(call, decision.channels, islands(), graphs_.nvls.channels, chunking);
    case Algorithm::collnet_chain:
      return make_network_tree(call, network_chains(graphs_, decision.channels), chunking);
    case Algorithm::collnet_direct:
      return make_network_tree(call, network_stars(graphs_, decision.channels), chunking);
    case Algorithm::p2p: {
      const PeerPlan plan = plan_peers(graphs_, settings_, bytes_per_peer(call));
      return make_point_to_point(call, plan.channels, plan.per_peer, plan.group_ranks,
                                 plan.chunking);
    }
    default:
      return fail(fmt::format("{} has no schedule in this model", name_of(decision.algorithm)),
                  "RING, TREE, NVLS, NVLS_TREE, COLLNET_CHAIN or COLLNET_DIRECT");
  }
}

}  // namespace

Result<std::unique_ptr<Communicator>> Communicator::create(const Fabric& fabric, const Parts& parts,
                                                           Options options) {
  auto settings = Settings::parse(options.env, options.version);
  if (!settings) return tl::unexpected(settings.error());
  auto graphs = find_graphs(fabric, *settings);
  if (!graphs) return tl::unexpected(graphs.error());
  TunerInput input = tuner_input(*graphs);
  const auto timing = read_timing(parts, fabric, input, options.version);
  if (!timing) return tl::unexpected(timing.error());
  return std::make_unique<SearchedCommunicator>(fabric, std::move(*settings), std::move(*graphs),
                                                std::move(input), *timing, options.launch);
}

}  // namespace isleway::nccl
