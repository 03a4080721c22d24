// Measurements against what others in the field demand (rules/thresholds.yaml).
#include <algorithm>
#include <cmath>

#include "check/derivation.hpp"
#include "check/words.hpp"
#include "isleway/core.hpp"

namespace isleway::check {
namespace {

constexpr double kWarnWithin = 0.05;  // of the threshold, as Azure's checks do

bool is_of_so_many(const NodeFacts& node, const Threshold& threshold) {
  if (threshold.gpus == 0) return true;
  if (const Signal* ranks = node.find("bench.ranks", threshold.subject))
    return number_of(*ranks) == threshold.gpus;
  return static_cast<int>(node.products.size()) == threshold.gpus;
}

void add(NodeFacts& node, const Threshold& threshold, const Signal& measured) {
  const double value = number_of(measured);
  const char* name = value < threshold.least                       ? "threshold.failed"
                     : value < threshold.least * (1 + kWarnWithin) ? "threshold.close"
                                                                   : "threshold.met";
  Derived fact{{name, measured.subject, measured.peer, value, "", {}, ""},
               {&measured},
               {{"least", number_text(threshold.least)},
                {"measurement", measured.name},
                {"id", threshold.id},
                {"source", threshold.source}}};
  node.add(std::move(fact));
}

/// Of a collective's rows the largest size; of copies every cell.
void judge(NodeFacts& node, const Threshold& threshold) {
  const Product* product = node.product_of("");
  if (!product || std::find(threshold.products.begin(), threshold.products.end(), product->name) ==
                      threshold.products.end())
    return;
  if (!is_of_so_many(node, threshold)) return;
  const Signal* largest = nullptr;
  std::int64_t largest_bytes = -1;
  std::vector<const Signal*> cells;
  for (const Fact& fact : node.named(threshold.measurement)) {
    const Signal& signal = *fact.signal;
    if (!threshold.subject.empty() && signal.subject != threshold.subject) continue;
    if (!(number_of(signal) > 0)) continue;
    if (threshold.from_bytes == 0) {
      if (signal.subject != signal.peer || signal.subject.empty()) cells.push_back(&signal);
      continue;
    }
    const auto bytes = parse_int(signal.peer);
    if (!bytes || *bytes < threshold.from_bytes || *bytes <= largest_bytes) continue;
    largest = &signal;
    largest_bytes = *bytes;
  }
  if (largest) add(node, threshold, *largest);
  for (const Signal* cell : cells) add(node, threshold, *cell);
}

void derive_thresholds(Facts& facts, const Input&, const Context& context) {
  for (NodeFacts& node : facts.nodes())
    for (const Threshold& threshold : context.rules.thresholds.all) judge(node, threshold);
}

}  // namespace

extern const Derivation thresholds_derivation;
const Derivation thresholds_derivation = {"Measurements against thresholds of the field",
                                          derive_thresholds};

}  // namespace isleway::check
