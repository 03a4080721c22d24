// All that is known: what the outputs state, and what was worked out from it, by node.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "isleway/check/products.hpp"
#include "isleway/formats/signal.hpp"

namespace isleway::check {

using formats::Signal;

/// A fact that follows from others. `signal` says what; where and quote are of its evidence.
struct Derived {
  Signal signal;
  std::vector<const Signal*> from;
  std::vector<std::pair<std::string, std::string>> words;  ///< for the texts of rules
};

/// A fact as rules meet it; `derived` is null for those that an output states.
struct Fact {
  const Signal* signal = nullptr;
  const Derived* derived = nullptr;
};

double number_of(const Signal& signal);        ///< NaN for a text
std::string value_text(const Signal& signal);  ///< "18", "26.562", "Completed"

/// A whole number, also where the output's text is one ("2"); nothing for "N/A".
std::optional<int> whole_number(const Signal& signal);

/// "gpu3" of "gpu3/link2": the device that a subject belongs to.
std::string_view device_of(std::string_view subject);
/// The number of "gpu3"; -1 for any other device.
int gpu_number(std::string_view subject);

/// The facts of one host.
class NodeFacts {
 public:
  explicit NodeFacts(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }

  std::span<const Fact> named(std::string_view name) const;
  /// The first of that name, about `subject`; null when there is none.
  const Signal* find(std::string_view name, std::string_view subject) const;
  const Signal* find(std::string_view name) const;
  bool has(std::string_view name) const { return !named(name).empty(); }
  /// Every name in use that a rule's pattern ("dcgm.*") fits.
  std::vector<std::string_view> names_like(std::string_view pattern) const;

  void add(const Signal& signal) { by_name_[signal.name].facts.push_back({&signal, nullptr}); }
  void add(Derived derived);

  /// By the GPU's number; set by the caller from the outputs or the expected machine.
  std::map<int, const Product*> products;
  /// Of a subject's GPU; of anything else, what all GPUs have in common. Null: not known.
  const Product* product_of(std::string_view subject) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  /// Facts of one name, and of long lists where each subject's first one is.
  struct Named {
    std::vector<Fact> facts;
    mutable std::unordered_map<std::string_view, std::size_t> first_of;
    mutable std::size_t indexed = 0;
  };
  std::string name_;
  std::unordered_map<std::string, Named, Hash, std::equal_to<>> by_name_;
  std::deque<Derived> derived_;
  mutable const Product* common_ = nullptr;  ///< of so many products:
  mutable std::size_t common_of_ = 0;
};

/// Nodes in the order of their names, as people count: n2 before n10.
class Facts {
 public:
  /// `signals` must outlive it.
  explicit Facts(const formats::Signals& signals);

  std::deque<NodeFacts>& nodes() { return nodes_; }
  const std::deque<NodeFacts>& nodes() const { return nodes_; }
  /// What is about no single node: networks, schedulers' files, differences between nodes.
  NodeFacts& cluster() { return cluster_; }
  const NodeFacts& cluster() const { return cluster_; }

 private:
  std::deque<NodeFacts> nodes_;
  NodeFacts cluster_{""};
};

}  // namespace isleway::check
