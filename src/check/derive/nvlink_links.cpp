// NVLinks that are up, against what the product has and its board can use.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "check/derivation.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

/// One GPU's links as an output shows them.
struct Shown {
  const Signal* active = nullptr;
  int up = 0, listed = 0;
  std::vector<const Signal*> down;   ///< the links that are not up
  std::vector<const Signal*> rates;  ///< of those that are
};

/// Of every GPU whose active links are counted, in the order of the outputs.
std::vector<Shown> shown_links(const NodeFacts& node) {
  std::vector<Shown> all;
  std::unordered_map<std::string_view, std::vector<std::size_t>> of_gpu;
  for (const Fact& fact : node.named("nvlink.active")) {
    Shown shown;
    shown.active = fact.signal;
    shown.up = static_cast<int>(number_of(*fact.signal));
    if (const Signal* listed = node.find("nvlink.listed", fact.signal->subject))
      shown.listed = static_cast<int>(number_of(*listed));
    of_gpu[fact.signal->subject].push_back(all.size());
    all.push_back(std::move(shown));
  }
  const auto each_of = [&](const Signal& link, auto&& take) {
    const auto found = of_gpu.find(device_of(link.subject));
    if (found == of_gpu.end()) return;
    // Outputs that repeat a GPU all show the same links; more than a few say nothing new.
    constexpr std::size_t kMostRepeats = 64;
    for (std::size_t i = 0; i < std::min(found->second.size(), kMostRepeats); ++i)
      take(all[found->second[i]]);
  };
  for (const Fact& fact : node.named("nvlink.state"))
    if (const std::string state = value_text(*fact.signal);
        state != "active" && state != "unsupported")
      each_of(*fact.signal, [&](Shown& shown) { shown.down.push_back(fact.signal); });
  for (const Fact& fact : node.named("nvlink.rate_GBs"))
    each_of(*fact.signal, [&](Shown& shown) { shown.rates.push_back(fact.signal); });
  return all;
}

std::string link_numbers(const std::vector<const Signal*>& links) {
  std::vector<std::string> numbers;
  for (const Signal* link : links) {
    const auto at = link->subject.find("/link");
    if (at != std::string::npos) numbers.push_back(link->subject.substr(at + 5));
  }
  return list_text(std::move(numbers), 18);
}

double usual_rate(const Shown& shown, const Product& product) {
  if (!shown.rates.empty()) return number_of(*shown.rates[0]);
  return product.link_rates.empty() ? 0 : product.link_rates[0];
}

Derived about(const Shown& shown, std::string name, const Product* product, double value) {
  Derived fact{{std::move(name), shown.active->subject, "", value, "", {}, ""}, {}, {}};
  if (!shown.down.empty()) fact.from = shown.down;
  else fact.from = {shown.active};
  fact.words = {{"active", std::to_string(shown.up)}, {"down", link_numbers(shown.down)}};
  if (product) {
    fact.words.emplace_back("product", product->name);
    fact.words.emplace_back("expected", std::to_string(product->usable));
    fact.words.emplace_back("fitted", std::to_string(product->links));
    const double rate = usual_rate(shown, *product);
    fact.words.emplace_back("rate", number_text(rate));
    fact.words.emplace_back("lost",
                            fmt::format("{:.0f}", rate * std::max(0, product->usable - shown.up)));
  }
  return fact;
}

/// How many GPUs of the product have links up, and how many have none.
std::pair<int, int> with_and_without(const NodeFacts& node, const Product& product) {
  std::pair<int, int> count{0, 0};
  for (const Fact& fact : node.named("nvlink.active"))
    if (node.product_of(fact.signal->subject) == &product)
      ++(number_of(*fact.signal) > 0 ? count.first : count.second);
  return count;
}

/// Several GPUs, and not one link of any.
bool none_up(const NodeFacts& node) {
  const auto facts = node.named("nvlink.active");
  return facts.size() > 1 && std::all_of(facts.begin(), facts.end(), [](const Fact& fact) {
           return !(number_of(*fact.signal) > 0);
         });
}

void judge_none_up(NodeFacts& node, const Shown& shown, const Product& product) {
  if (product.wiring != Wiring::bridge) {
    node.add(about(shown, "links.all_down", &product, product.usable));
    return;
  }
  const auto [with, without] = with_and_without(node, product);
  const bool pair_without = without >= 2;
  node.add(about(shown,
                 product.bridged && pair_without ? "links.bridge_missing" : "links.no_bridge",
                 &product, with));
}

void judge_rates(NodeFacts& node, const Shown& shown, const Product& product) {
  if (product.link_rates.empty()) return;
  const double least = *std::min_element(product.link_rates.begin(), product.link_rates.end());
  for (const Signal* rate : shown.rates) {
    const double value = number_of(*rate);
    if (!(value > 0) || value > 0.97 * least) continue;
    Derived fact{{"links.slow", rate->subject, "", value, "", {}, ""}, {rate}, {}};
    fact.words = {{"product", product.name}, {"expected", number_text(least)}};
    node.add(std::move(fact));
  }
}

/// The most links that any GPU of the node has up.
int most_up(const NodeFacts& node) {
  double most = 0;
  for (const Fact& fact : node.named("nvlink.active"))
    most = std::max(most, number_of(*fact.signal));
  return static_cast<int>(most);
}

void judge(NodeFacts& node, const Shown& shown, int most) {
  const Product* product = node.product_of(shown.active->subject);
  if (!product) {
    if (shown.up > 0 && shown.up < most) {
      Derived fact = about(shown, "links.below_sisters", nullptr, most - shown.up);
      fact.words.emplace_back("most", std::to_string(most));
      node.add(std::move(fact));
    } else if (shown.up > 0 && shown.down.empty())
      node.add(about(shown, "links.all_listed_up", nullptr, shown.up));
    else if (shown.up == 0 && shown.listed > 0 && none_up(node))
      node.add(about(shown, "links.none_up", nullptr, shown.listed));
    else node.add(about(shown, "links.unknown_product", nullptr, shown.up));
    return;
  }
  judge_rates(node, shown, *product);
  if (product->wiring == Wiring::none) {
    node.add(about(shown, "links.none_on_product", product, 0));
  } else if (shown.up == 0) {
    judge_none_up(node, shown, *product);
  } else if (shown.up < product->usable) {
    node.add(about(shown, "links.missing", product, product->usable - shown.up));
  } else if (shown.up > product->usable) {
    node.add(about(shown, "links.more_than_known", product, shown.up));
  } else {
    node.add(about(shown, shown.down.empty() ? "links.complete" : "links.complete_by_design",
                   product, shown.up));
  }
}

void derive_nvlink_links(Facts& facts, const Input&, const Context&) {
  for (NodeFacts& node : facts.nodes())
    for (const int most = most_up(node); const Shown& shown : shown_links(node))
      judge(node, shown, most);
}

}  // namespace

extern const Derivation nvlink_links_derivation;
const Derivation nvlink_links_derivation = {"NVLinks up against product and board",
                                            derive_nvlink_links};

}  // namespace isleway::check
