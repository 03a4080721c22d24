// Many simulations in one process: whatever runs beside it, each comes to the same.
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "isleway/collective.hpp"
#include "isleway/core/file.hpp"
#include "isleway/engine/packet.hpp"
#include "unit/engine/fakes.hpp"

namespace isleway {
namespace {

using testing::star;
using testing::StarWiring;

struct Work {
  std::unique_ptr<Engine> engine;
  Fabric fabric;
  std::unique_ptr<Schedule> schedule;
  std::unique_ptr<StarWiring> wiring;

  Outcome run() const { return engine->run(fabric, *schedule, *wiring).value(); }
};

/// Different calls on different machines by all engines; several share nothing but the program.
Work work(int number) {
  const int ranks = 3 + number % 5;
  CollectiveCall call;
  call.ranks = ranks;
  call.size.bytes = (std::int64_t{1} << (16 + number % 4)) * ranks;
  const Chunking chunking{32 << 10, 16 << 10};
  Connection price;
  price.latency = Time::ns(700 + 100 * number);
  price.overhead = Time::ns(50 * (number % 3));
  Work out{nullptr, star(ranks, Rate::GBs(40 + number)), nullptr,
           std::make_unique<StarWiring>(ranks, price)};
  if (number % 2 == 0) {
    out.schedule = make_simple_ring(call, 2, chunking).value();
  } else {
    call.collective = Collective::all_to_all;
    out.schedule = make_point_to_point(call, 2, 2, ranks, chunking).value();
  }
  if (number % 4 == 3) {
    PacketOptions options;
    options.rules =
        link::Rules::from(Parts::load(ISLEWAY_SOURCE_DIR "/machines/parts").value()).value();
    options.bit_error_rate = 1e-8;
    out.engine = make_packet_engine(options);
  } else {
    out.engine = number % 4 == 2 ? make_analytic_engine() : make_flow_engine();
  }
  return out;
}

void expect_identical(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.busy, b.busy);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.bottleneck, b.bottleneck);
  EXPECT_EQ(a.latency_share, b.latency_share);
  ASSERT_EQ(a.loads.size(), b.loads.size());
  for (std::size_t i = 0; i < a.loads.size(); ++i) {
    EXPECT_EQ(a.loads[i].link, b.loads[i].link);
    EXPECT_EQ(a.loads[i].wire_bytes, b.loads[i].wire_bytes);
    EXPECT_EQ(a.loads[i].busy, b.loads[i].busy);
  }
  ASSERT_EQ(a.counters.size(), b.counters.size());
  for (std::size_t i = 0; i < a.counters.size(); ++i)
    EXPECT_EQ(a.counters[i].counters.packets, b.counters[i].counters.packets);
}

TEST(Threads, RunSimulationsBesideOneAnother) {
  constexpr int kWorks = 12, kThreads = 6;
  std::vector<Work> works;
  for (int i = 0; i < kWorks; ++i) works.push_back(work(i));
  std::vector<Outcome> alone;
  for (const Work& one : works) alone.push_back(one.run());

  // Each thread does all of them, beginning elsewhere; so the same one runs twice at a time, too.
  std::vector<std::vector<Outcome>> beside(kThreads, std::vector<Outcome>(kWorks));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kWorks; ++i) {
        const auto which = static_cast<std::size_t>((i + 2 * t) % kWorks);
        beside[static_cast<std::size_t>(t)][which] = works[which].run();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& outcomes : beside)
    for (std::size_t i = 0; i < outcomes.size(); ++i) expect_identical(outcomes[i], alone[i]);
}

}  // namespace
}  // namespace isleway
