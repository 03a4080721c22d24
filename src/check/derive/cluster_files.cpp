// Schedulers' and networks' files: blocks, domains, and links below their like.
#include <algorithm>
#include <map>

#include "check/derivation.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

using Words = std::vector<std::pair<std::string, std::string>>;

void add(NodeFacts& node, const char* name, std::string subject, double value,
         std::vector<const Signal*> from, Words words) {
  node.add(Derived{
      {name, std::move(subject), "", value, "", {}, ""}, std::move(from), std::move(words)});
}

/// "b1-b7 4, b8 3"
std::string sizes_text(const std::map<double, std::vector<std::string>>& by_size) {
  std::string text;
  for (auto entry = by_size.rbegin(); entry != by_size.rend(); ++entry)
    text +=
        (text.empty() ? "" : "; ") + list_text(entry->second, 6) + ": " + number_text(entry->first);
  return text;
}

void unequal(NodeFacts& node, const char* name, const char* fact_name) {
  std::map<double, std::vector<std::string>> by_size;
  std::vector<const Signal*> from;
  double empty = 0;
  for (const Fact& fact : node.named(name)) {
    const double size = number_of(*fact.signal);
    if (size == 0) {
      ++empty;
      continue;
    }
    if (by_size[size].empty()) from.push_back(fact.signal);
    by_size[size].push_back(fact.signal->subject);
  }
  if (by_size.size() > 1)
    add(node, fact_name, "", double(by_size.size()), from, {{"sizes", sizes_text(by_size)}});
  else if (by_size.size() == 1)
    add(node, (std::string(fact_name) + "_equal").c_str(), "", by_size.begin()->first, from,
        {{"domains", std::to_string(by_size.begin()->second.size())},
         {"size", number_text(by_size.begin()->first)}});
}

void block_sizes(NodeFacts& node) {
  for (const Fact& fact : node.named("slurm.block_size")) {
    const Signal* nodes = node.find("slurm.nodes", fact.signal->subject);
    if (nodes && number_of(*fact.signal) > number_of(*nodes))
      add(node, "slurm.block_size_too_large", fact.signal->subject, number_of(*fact.signal),
          {fact.signal}, {{"nodes", value_text(*nodes)}});
  }
}

/// Hops from a switch to the top of its tree.
void tiers(NodeFacts& node) {
  std::map<std::string_view, const Signal*> up;
  for (const Fact& fact : node.named("slurm.uplink")) up.emplace(fact.signal->subject, fact.signal);
  std::size_t deepest = 0;
  const Signal* line = nullptr;
  for (const Fact& fact : node.named("slurm.switch")) {
    std::size_t depth = 1;
    std::string_view at = fact.signal->subject;
    for (auto next = up.find(at); next != up.end() && depth < 16; next = up.find(at)) {
      at = next->second->peer;
      ++depth;
    }
    if (depth > deepest) line = fact.signal;
    deepest = std::max(deepest, depth);
  }
  if (line) add(node, "slurm.tiers", "", double(deepest), {line}, {});
}

/// InfiniBand links slower than most: "4xEDR" among "4xNDR".
void slow_links(NodeFacts& node) {
  std::map<std::string, std::vector<const Signal*>> by_speed;
  std::size_t all = 0;
  for (const Fact& fact : node.named("ib.link")) {
    by_speed[value_text(*fact.signal)].push_back(fact.signal);
    ++all;
  }
  if (by_speed.empty()) return;
  const auto usual = std::max_element(by_speed.begin(), by_speed.end(), [](auto& a, auto& b) {
    return a.second.size() < b.second.size();
  });
  if (by_speed.size() == 1) {
    add(node, "ib.all_alike", "", double(all), {usual->second[0]}, {{"speed", usual->first}});
    return;
  }
  for (const auto& [speed, links] : by_speed) {
    if (speed == usual->first) continue;
    for (const Signal* link : links)
      add(node, "ib.odd_speed", link->subject, 1, {link},
          {{"speed", speed}, {"usual", usual->first}});
  }
}

void derive_cluster_files(Facts& facts, const Input&, const Context&) {
  const auto judge = [](NodeFacts& node) {
    unequal(node, "slurm.block", "slurm.unequal_blocks");
    unequal(node, "cluster.domain_nodes", "cluster.domains");
    block_sizes(node);
    tiers(node);
    slow_links(node);
  };
  for (NodeFacts& node : facts.nodes()) judge(node);
}

}  // namespace

extern const Derivation cluster_files_derivation;
const Derivation cluster_files_derivation = {"Schedulers' and networks' files",
                                             derive_cluster_files};

}  // namespace isleway::check
