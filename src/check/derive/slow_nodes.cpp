// Many small runs, each over a few nodes: the node whose runs are all slow.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "check/derivation.hpp"
#include "check/words.hpp"
#include "isleway/core.hpp"

namespace isleway::check {
namespace {

constexpr double kSlow = 0.8, kUsual = 0.9;  // of the median of all runs
constexpr std::size_t kFewestRuns = 3;

struct Run {
  std::set<std::string> hosts;
  double busbw_GBs = 0;
  std::string file;
};

/// Runs that can be compared: of one collective over as many ranks and hosts, largest size.
using Kind = std::tuple<std::string, int, std::size_t, std::int64_t>;

std::map<Kind, std::vector<Run>> runs_of(const Input& input) {
  std::map<Kind, std::vector<Run>> runs;
  std::set<std::string> files;  // one may be read as a machine and as measurements
  for (const Content& content : input.contents) {
    const auto* tables = std::get_if<formats::NcclTestsTables>(&content.document.content);
    if (!tables || !files.insert(content.file).second) continue;
    for (const auto& table : *tables) {
      Run run{{table.hosts.begin(), table.hosts.end()}, 0, content.file};
      run.hosts.erase("");
      if (run.hosts.empty() && !content.node.empty()) run.hosts.insert(content.node);
      if (run.hosts.empty() || table.rows.empty()) continue;
      const auto& largest =
          *std::max_element(table.rows.begin(), table.rows.end(),
                            [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
      const auto& side = largest.out_of_place ? largest.out_of_place : largest.in_place;
      run.busbw_GBs = side ? side->busbw_GBs : 0;
      const Kind kind{table.collective, table.ranks, run.hosts.size(), largest.bytes};
      if (run.busbw_GBs > 0) runs[kind].push_back(std::move(run));
    }
  }
  return runs;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// All of a node's runs are slow, and its partners are not slow without it.
void judge(Facts& facts, const std::string& collective, const std::vector<Run>& runs) {
  std::vector<double> all;
  std::map<std::string, std::vector<const Run*>> by_host;
  for (const Run& run : runs) {
    all.push_back(run.busbw_GBs);
    for (const std::string& host : run.hosts) by_host[host].push_back(&run);
  }
  const double usual = median_of(all);
  const auto best_of = [](const std::vector<const Run*>& of) {
    double best = 0;
    for (const Run* run : of) best = std::max(best, run->busbw_GBs);
    return best;
  };
  std::map<std::string, double> slow;
  for (const auto& [host, of] : by_host)
    if (const double best = best_of(of); best < kSlow * usual) slow.emplace(host, best);
  if (slow.empty() || 3 * slow.size() > by_host.size()) return;
  for (const auto& [host, best] : slow) {
    const bool blameless = std::all_of(by_host[host].begin(), by_host[host].end(), [&](auto* run) {
      return std::any_of(run->hosts.begin(), run->hosts.end(), [&](const std::string& other) {
        return other != host && slow.count(other) > 0;
      });
    });
    // Only ever measured beside another slow node: either may be the one.
    if (blameless) continue;
    Derived fact{{"pairs.slow", host, "", best, "", {}, ""},
                 {},
                 {{"usual", number_text(usual)},
                  {"collective", collective.empty() ? "the collective" : collective},
                  {"runs", std::to_string(by_host[host].size())}}};
    fact.signal.where.file = by_host[host][0]->file;
    facts.cluster().add(std::move(fact));
  }
}

void derive_slow_nodes(Facts& facts, const Input& input, const Context&) {
  for (const auto& [kind, runs] : runs_of(input))
    if (runs.size() >= kFewestRuns) judge(facts, std::get<0>(kind), runs);
}

}  // namespace

extern const Derivation slow_nodes_derivation;
const Derivation slow_nodes_derivation = {"The node that slows every run that it is in",
                                          derive_slow_nodes};

}  // namespace isleway::check
