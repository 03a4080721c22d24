#include "nccl/tuner.hpp"

#include <bit>

#include "nccl/tuner_rules.hpp"

namespace isleway::nccl {
namespace {

constexpr Collective kTuned[] = {Collective::all_reduce, Collective::all_gather,
                                 Collective::reduce_scatter, Collective::broadcast,
                                 Collective::reduce};

}  // namespace

int floor_log2(int value) { return std::bit_width(static_cast<unsigned>(value)) - 1; }

Tuner::Tuner(TunerInput input, const Settings& settings)
    : input_(std::move(input)), settings_(settings), tables_(tuning_tables(settings.version)) {
  for (const Collective collective : kTuned)
    for (std::size_t a = 0; a < kAlgorithmCount; ++a)
      for (std::size_t p = 0; p < kProtocolCount; ++p)
        fill(collective, static_cast<Algorithm>(a), static_cast<Protocol>(p));
}

void Tuner::fill(Collective collective, Algorithm algorithm, Protocol protocol) {
  Price& price =
      prices_[static_cast<std::size_t>(collective)][index_of(algorithm)][index_of(protocol)];
  const ModelPoint point{input_, tables_, settings_, collective, algorithm, protocol};
  price.why_not = unavailable(point);
  if (!price.why_not.empty()) return;
  price.bandwidth = model_bandwidth(point);
  price.latency = model_latency(point);
  if (!price.available()) price.why_not = "the graph search found no path with bandwidth";
}

std::optional<double> Tuner::time(Collective collective, Algorithm algorithm, Protocol protocol,
                                  std::int64_t bytes) const {
  const Price& price = this->price(collective, algorithm, protocol);
  if (!price.available()) return std::nullopt;
  double bandwidth = price.bandwidth, latency = price.latency;
  const bool all_reduce = collective == Collective::all_reduce;
  const bool corrected =
      algorithm == Algorithm::tree ||
      (algorithm == Algorithm::nvls_tree && settings_.version >= release(2, 29) &&
       input_.min_sm >= 100 && input_.cpu_arch == CpuArch::x86);
  if (corrected && (all_reduce || settings_.version < release(2, 23)))
    bandwidth *= tree_correction(settings_.version, protocol, bytes);
  // Rings between nodes sit on a plateau while every rank's part is small.
  if (algorithm == Algorithm::ring && protocol == Protocol::simple && all_reduce &&
      input_.nodes > 1 && bytes / (std::int64_t{input_.channels} * input_.ranks) >= 64)
    latency *= input_.min_sm >= 80 ? 1.4 : 1.9;
  return latency + static_cast<double>(bytes) / (1000 * bandwidth);
}

std::optional<Tuner::Choice> Tuner::choose(Collective collective, std::int64_t bytes,
                                           std::optional<Algorithm> algorithm,
                                           std::optional<Protocol> protocol) const {
  std::optional<Choice> best;
  for (std::size_t a = 0; a < kAlgorithmCount; ++a)
    for (std::size_t p = 0; p < kProtocolCount; ++p) {
      const auto which = static_cast<Algorithm>(a);
      const auto how = static_cast<Protocol>(p);
      if ((algorithm && *algorithm != which) || (protocol && *protocol != how)) continue;
      const auto cost = time(collective, which, how, bytes);
      if (cost && (!best || *cost < best->time)) best = Choice{which, how, *cost};
    }
  return best;
}

}  // namespace isleway::nccl
