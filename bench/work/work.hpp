// The work that Isleway and its peers are timed on, in plain numbers: no simulator's types.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace work {

constexpr double kRate = 50e9;  ///< bytes per second in each direction of a link: 400 Gb/s
constexpr double kLatency = 1e-6;

struct Flow {
  double start;
  std::int64_t bytes;
  int from, to;
};

/// S1: a ring all_reduce. In each of 2(n-1) steps every rank passes a chunk on.
constexpr std::int64_t kRingBytes = std::int64_t{1} << 30;
inline int ring_steps(int ranks) { return 2 * (ranks - 1); }
inline std::int64_t ring_chunk(int ranks) { return kRingBytes / ranks; }

/// S2: every rank to every other, all at once.
constexpr std::int64_t kPairBytes = std::int64_t{1} << 20;

/// A two-level fat tree without oversubscription: each leaf has as many spines as hosts. Links
/// are directed. Which spine a pair of hosts takes is drawn by a hash, as ECMP does.
struct FatTree {
  explicit FatTree(int all_hosts) : hosts(all_hosts) {
    while (per_leaf * per_leaf < hosts) per_leaf *= 2;
    leaves = hosts / per_leaf;
  }
  int hosts, per_leaf = 1, leaves = 1;

  int link_count() const { return 2 * hosts + 2 * leaves * per_leaf; }
  int up(int host) const { return host; }
  int down(int host) const { return hosts + host; }
  int leaf_up(int leaf, int spine) const { return 2 * hosts + leaf * per_leaf + spine; }
  int leaf_down(int leaf, int spine) const {
    return 2 * hosts + (leaves + leaf) * per_leaf + spine;
  }
  int spine(int from, int to) const {
    std::uint64_t x = static_cast<std::uint64_t>(from) * 0x9e3779b97f4a7c15u + to;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
    return static_cast<int>((x >> 40) % static_cast<std::uint64_t>(per_leaf));
  }
  std::vector<int> path(int from, int to) const {
    const int a = from / per_leaf, b = to / per_leaf, s = spine(from, to);
    if (a == b) return {up(from), down(to)};
    return {up(from), leaf_up(a, s), leaf_down(b, s), down(to)};
  }
};

/// S4: flows between random hosts, at random times, of 64 KiB to 16 MiB, that keep each host's
/// link busy for about half of the time.
inline std::vector<Flow> random_flows(int hosts, int count) {
  std::mt19937_64 random(4);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  const double mean_bytes = ((1 << 24) - (1 << 16)) / std::log(256.0);
  const double gap = mean_bytes / (0.5 * kRate * hosts);
  std::vector<Flow> flows;
  double now = 0;
  for (int i = 0; i < count; ++i) {
    now += -gap * std::log(1 - uniform());
    const int from = static_cast<int>(uniform() * hosts);
    const int to = (from + 1 + static_cast<int>(uniform() * (hosts - 1))) % hosts;
    // Whole nanoseconds, which every simulator can hold.
    flows.push_back({std::round(now * 1e9) * 1e-9,
                     static_cast<std::int64_t>(std::exp2(16 + 8 * uniform())), from, to});
  }
  return flows;
}

/// Seconds of this process on a processor: others may be at work on the machine.
inline double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Of this program alone: what getrusage() says counts whoever started it, too.
inline double peak_MiB() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (double kib = 0; word == "VmHWM:" && status >> kib) return kib / 1024;
  return 0;
}

/// What a program was asked for: its name, a size, "--plain", "--times FILE".
struct Request {
  std::string what;
  int size = 0;
  bool plain = false;  ///< without speed-ups
  std::string times;   ///< where the finish times go, one a line
};

inline Request read_request(int argc, char** argv) {
  Request request;
  if (argc < 3) throw std::runtime_error("usage: WORK SIZE [--plain] [--times FILE]");
  request.what = argv[1];
  request.size = std::stoi(argv[2]);
  for (int i = 3; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--plain") request.plain = true;
    else if (argument == "--times" && i + 1 < argc) request.times = argv[++i];
    else throw std::runtime_error("unknown argument " + argument);
  }
  return request;
}

/// Finish times in seconds; `seconds` is what the simulation cost, without building the machine.
inline void report(const Request& request, double seconds, std::uint64_t events,
                   const std::vector<double>& times) {
  if (!request.times.empty()) {
    std::ofstream file(request.times);
    char line[32];
    for (const double t : times) {
      std::snprintf(line, sizeof line, "%.12g\n", t);
      file << line;
    }
  }
  double last = 0;
  for (const double t : times) last = std::max(last, t);
  std::printf("{\"seconds\": %.6f, \"peak_MiB\": %.1f, \"events\": %llu, \"finish\": %.12g}\n",
              seconds, peak_MiB(), static_cast<unsigned long long>(events), last);
}

}  // namespace work
