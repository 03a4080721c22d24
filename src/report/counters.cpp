#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "isleway/report/bench.hpp"

namespace isleway::report {
namespace {

constexpr std::size_t kLinksNamed = 3;

std::string line(const link::Counters& c) {
  return fmt::format(
      "data {} B, raw {} B, CRC flit {}, CRC data {}, replay {}, recovery {}, symbol BER {:.1e}, "
      "effective BER {:.1e}",
      c.data_bytes, c.raw_bytes, c.crc_flit_errors, c.crc_data_errors, c.replays, c.recoveries,
      c.symbol_ber(), c.effective_ber());
}

}  // namespace

std::string counter_lines(const nccl::BenchRow& row) {
  if (row.counters.empty()) return {};
  link::Counters all;
  std::vector<const nccl::NamedCounters*> worst;
  for (const nccl::NamedCounters& one : row.counters) {
    all += one.counters;
    if (one.counters.replays > 0) worst.push_back(&one);
  }
  std::string text = fmt::format("#   all links: {}\n", line(all));
  if (all.pauses > 0 || all.ecn_marks > 0)
    text += fmt::format("#   pauses {}, packets marked {}\n", all.pauses, all.ecn_marks);
  std::ranges::stable_sort(worst, std::greater<>(),
                           [](const nccl::NamedCounters* one) { return one->counters.replays; });
  worst.resize(std::min(worst.size(), kLinksNamed));
  for (const nccl::NamedCounters* one : worst)
    text +=
        fmt::format("#   {} {}: {}\n", one->link, one->forward ? '>' : '<', line(one->counters));
  return text;
}

}  // namespace isleway::report
