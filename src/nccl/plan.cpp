#include "nccl/plan.hpp"

#include <algorithm>
#include <span>

#include "nccl/tables.hpp"
#include "nccl/tuner_rules.hpp"

namespace isleway::nccl {
namespace {

constexpr int kMostThreads = 640;
constexpr int kFlowWarps = 4;  // a compromise: one by one they would be too many messages
constexpr int kWarp = 32;
constexpr double kPcieGen3 = 12.0;  // GB/s: NCCL's yardstick for half-size blocks

int threads_allowed(const TunerInput& in, const Settings& s, Algorithm a, Protocol p) {
  if (a == Algorithm::pat) return 0;  // never narrowed by size
  if (a == Algorithm::ring || a == Algorithm::tree) {
    if (p == Protocol::ll128) return s.ll128_threads.value_or(kMostThreads);
    if (p == Protocol::ll) return s.threads.value_or(512);
    const Graph& g = in.ring;
    const bool slow = a == Algorithm::ring && g.bw_intra * g.channels <= kPcieGen3;
    return s.threads.value_or(slow ? 256 : 512);
  }
  return kMostThreads;
}

/// Bytes that a thread must have to be worth its place.
std::int64_t bytes_per_thread(const TunerInput& in, Algorithm a, Protocol p) {
  switch (p) {
    case Protocol::ll: return a == Algorithm::ring ? std::int64_t{8} * in.ranks : 8;
    case Protocol::ll128: return 8;
    default: return a == Algorithm::collnet_direct || a == Algorithm::collnet_chain ? 512 : 64;
  }
}

int channels_allowed(const TunerInput& in, Algorithm a) {
  if (a == Algorithm::nvls && in.nodes > 1) return std::min(in.nvls_channels, in.channels);
  return a == Algorithm::nvls || a == Algorithm::nvls_tree ? in.nvls_channels : in.channels;
}

/// All heads must have enough to do; what is enough halves at each step down.
int direct_channels(const TunerInput& in, int channels, int threads, std::int64_t bytes) {
  std::int64_t worth = bytes_per_thread(in, Algorithm::collnet_direct, Protocol::simple);
  for (int step = 16; step >= 1; step /= 2) {
    bool short_of = true;
    while (true) {
      short_of = bytes < std::int64_t{channels} * threads * in.direct_heads * worth;
      if (!short_of || channels <= step) break;
      if (channels == step + step / 2) worth /= 2;
      --channels;
    }
    if (!short_of) break;
  }
  return channels;
}

/// Gives up channels, then threads, until each has enough to do.
void size_grid(LaunchPlan& plan, const TunerInput& in, const Settings& s, Algorithm a, Protocol p,
               std::int64_t bytes) {
  int channels = std::max(1, channels_allowed(in, a));
  int threads = threads_allowed(in, s, a, p);
  const std::int64_t worth = bytes_per_thread(in, a, p);
  const auto short_of = [&] { return bytes < std::int64_t{channels} * threads * worth; };
  if (a == Algorithm::collnet_direct) {
    channels = direct_channels(in, channels, threads, bytes);
  } else if (a != Algorithm::nvls && a != Algorithm::nvls_tree) {
    // In-switch reduction needs every head's channels, however small the call.
    while (channels > 1 && short_of()) --channels;
    while (threads % 128 == 0 && threads > 0 && short_of()) threads /= 2;
  }
  if (p == Protocol::simple) {
    if (a == Algorithm::ring) threads += kWarp;      // one warp to synchronise
    if (a == Algorithm::tree) threads += 4 * kWarp;  // one for each direction and child
  }
  threads = std::max(threads, 3 * kWarp);
  if (a == Algorithm::tree || a == Algorithm::pat) threads = kMostThreads;
  plan.max_channels = channels;
  plan.threads = threads;
}

/// From 2.22 work is dealt out in cells that make 16 KiB of traffic each, so that small
/// calls do not wake channels for a few bytes.
void deal_out(LaunchPlan& plan, const TunerInput& in, const Settings& s, Collective collective,
              Protocol p, std::int64_t bytes) {
  plan.channels = plan.max_channels;
  if (s.version < release(2, 22)) return;
  std::int64_t traffic_per_byte = 1, data = bytes;
  if (collective == Collective::all_reduce) traffic_per_byte = 2;
  if (collective == Collective::all_gather || collective == Collective::reduce_scatter) {
    traffic_per_byte = in.ranks;
    data = bytes / in.ranks;
  }
  if (p == Protocol::ll) traffic_per_byte *= 4;
  constexpr std::int64_t kCellTraffic = 16 << 10;
  const auto ceil_div = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t cell =
      std::max<std::int64_t>(16, ceil_div(kCellTraffic / traffic_per_byte, 16) * 16);
  plan.cell_bytes = cell;
  const std::int64_t cells = ceil_div(data, cell);
  const std::int64_t traffic = std::max(kCellTraffic, data * traffic_per_byte / plan.max_channels);
  const std::int64_t per_channel =
      std::max<std::int64_t>(1, std::min(cells, ceil_div(traffic, cell * traffic_per_byte)));
  plan.channels = static_cast<int>(
      std::clamp<std::int64_t>(ceil_div(cells, per_channel), 1, plan.max_channels));
}

/// Halves `chunk` down to `floor` while fewer than `wanted` of them come to each channel.
void halve(std::int64_t& chunk, std::int64_t floor, std::int64_t bytes, int channels,
           double wanted) {
  while (chunk > floor &&
         static_cast<double>(bytes) / static_cast<double>(channels * chunk) < wanted)
    chunk /= 2;
}

/// Largest first: a chunk of `size` where the call is shorter than `times` rounds.
struct Step {
  std::int64_t times, size;
};
void shrink(std::int64_t& chunk, std::span<const Step> steps, std::int64_t bytes,
            std::int64_t heads_and_channels) {
  for (const Step step : steps)
    if (chunk > step.size && bytes < step.times * heads_and_channels * chunk) chunk = step.size;
}

std::int64_t chunk_of(const LaunchPlan& plan, const TunerInput& in, const Settings& s,
                      Collective collective, Algorithm a, Protocol p, std::int64_t bytes) {
  const std::int64_t slot = slot_bytes(in, s, p);
  const std::int64_t operations = std::int64_t{plan.max_channels} * std::max(1, in.nvls.channels);
  switch (a) {
    case Algorithm::ring: return slot * (slots_per_message(collective, a, p) == 2 ? 4 : 1);
    case Algorithm::tree: {
      if (p != Protocol::ll128) return slot;
      // Counted in bytes of the buffer, flags included, as NCCL does.
      std::int64_t chunk = slot / 120 * 128;
      const double ranks = double(in.ranks) / in.nodes;
      const double steps = 1 + floor_log2(in.nodes) + .1 * ranks;
      halve(chunk, 128 << 10, bytes, plan.max_channels, steps * 64 / ranks);
      halve(chunk, 32 << 10, bytes, plan.max_channels, steps * 16 / ranks);
      return chunk * 120 / 128 / 1920 * 1920;
    }
    case Algorithm::nvls: {
      std::int64_t chunk = s.nvls_chunk.value_or(128 << 10);
      constexpr double kFast = 150;  // GB/s
      if (in.nodes > 1 &&
          model_bandwidth({in, tuning_tables(s.version), s, collective, a, p}) < kFast)
        chunk = std::min<std::int64_t>(chunk, 32 << 10);
      constexpr Step kSteps[] = {{64, 64 << 10}, {8, 32 << 10}, {2, 16 << 10}};
      shrink(chunk, kSteps, bytes, operations);
      return chunk;
    }
    case Algorithm::nvls_tree: {
      std::int64_t chunk =
          std::min(slot, s.nvls_tree_max_chunk.value_or(in.nodes >= 4 ? 64 << 10 : 128 << 10));
      constexpr Step kSteps[] = {{32, 256 << 10}, {16, 128 << 10}, {4, 64 << 10}, {1, 32 << 10}};
      shrink(chunk, kSteps, bytes, operations);
      return chunk;
    }
    case Algorithm::pat: {
      std::int64_t chunk = slot;
      const std::int64_t times = collective == Collective::all_gather ? 32 : 16;
      while (chunk > 64 << 10 && chunk * plan.max_channels * times > bytes) chunk /= 2;
      return chunk;
    }
    case Algorithm::collnet_direct: {
      constexpr int kDepth = 2;  // to a head and on into the network
      std::int64_t chunk = slot;
      halve(chunk, 128 << 10, bytes, plan.max_channels * in.direct_heads, kDepth * 64);
      halve(chunk, 32 << 10, bytes, plan.max_channels * in.direct_heads, kDepth * 8);
      return chunk;
    }
    case Algorithm::collnet_chain: {
      const int depth = in.ranks / in.nodes;
      std::int64_t chunk = std::min<std::int64_t>(slot, 256 << 10);
      halve(chunk, 128 << 10, bytes, plan.max_channels, depth * 64);
      halve(chunk, 64 << 10, bytes, plan.max_channels, depth * 8);
      halve(chunk, 32 << 10, bytes, plan.max_channels, depth);
      return chunk;
    }
    default: return slot;
  }
}

}  // namespace

std::int64_t slot_bytes(const TunerInput& in, const Settings& s, Protocol p) {
  switch (p) {
    case Protocol::ll: return s.buffer_ll.value_or(512 << 10) / kSlots / 2;
    case Protocol::ll128:
      return s.buffer_ll128.value_or(std::int64_t{120} * kMostThreads * 8 * kSlots) / kSlots / 128 *
             120;
    case Protocol::simple: break;
  }
  const bool small = in.cpu_arch == CpuArch::arm && s.version < release(2, 19);
  return s.buffer_simple.value_or(small ? 1 << 20 : 4 << 20) / kSlots;
}

int slots_per_message(Collective collective, Algorithm algorithm, Protocol protocol) {
  const bool rotates = collective == Collective::all_reduce ||
                       collective == Collective::all_gather ||
                       collective == Collective::reduce_scatter;
  return algorithm == Algorithm::ring && protocol == Protocol::simple && rotates ? 2 : 1;
}

Chunking wire_chunking(const CollectiveCall& call, const Decision& decision) {
  Chunking chunking = decision.chunking;
  const bool chain =
      decision.algorithm == Algorithm::ring &&
      (call.collective == Collective::broadcast || call.collective == Collective::reduce);
  if ((!chain && decision.algorithm != Algorithm::tree) || decision.protocol == Protocol::simple)
    return chunking;
  const bool ll = decision.protocol == Protocol::ll;
  const std::int64_t at_once = kFlowWarps * (ll ? 32 * 8 : 1920);
  chunking.chunk_bytes = std::min(chunking.chunk_bytes, at_once);
  chunking.slice_bytes = std::min(chunking.slice_bytes, at_once);
  return chunking;
}

LaunchPlan plan_launch(const TunerInput& in, const Settings& s, Collective collective,
                       Algorithm algorithm, Protocol protocol, std::int64_t bytes) {
  LaunchPlan plan;
  size_grid(plan, in, s, algorithm, protocol, bytes);
  deal_out(plan, in, s, collective, protocol, bytes);
  plan.chunk_bytes = chunk_of(plan, in, s, collective, algorithm, protocol, bytes);
  const int slots = slots_per_message(collective, algorithm, protocol);
  plan.slice_bytes = std::min(plan.chunk_bytes, slots * slot_bytes(in, s, protocol));
  return plan;
}

}  // namespace isleway::nccl
