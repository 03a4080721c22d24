// Peer access, ACS on the way between peers, and GPUDirect RDMA on both sides.
#include <algorithm>
#include <map>
#include <set>

#include "check/derivation.hpp"
#include "check/words.hpp"
#include "isleway/core.hpp"

namespace isleway::check {
namespace {

using Lines = std::vector<const Signal*>;
using Words = std::vector<std::pair<std::string, std::string>>;

void add(NodeFacts& node, const char* name, std::string subject,
         std::variant<double, std::string> value, Lines from, Words words = {}) {
  node.add(Derived{{name, std::move(subject), "", std::move(value), "", {}, ""},
                   std::move(from),
                   std::move(words)});
}

void all_pairs_ok(NodeFacts& node) {
  const auto facts = node.named("p2p.status");
  double pairs = 0;
  for (const Fact& fact : facts) {
    const std::string status = value_text(*fact.signal);
    if (fact.signal->subject == fact.signal->peer || status == "X") continue;
    if (status != "OK") return;
    ++pairs;
  }
  if (pairs > 0) add(node, "p2p.all_ok", "", pairs / 2, {facts[0].signal});
}

bool is_endpoint(const NodeFacts& node, const std::string& address) {
  const Signal* kind = node.find("pcie.class", address);
  return kind && is_like_any(value_text(*kind), {"*3D controller*", "*VGA*", "*Infiniband*",
                                                 "*Ethernet*", "*Network*", "*accelerator*"});
}

/// Bridges that redirect, and whether a GPU or a NIC hangs below.
void acs(NodeFacts& node) {
  std::map<std::string, std::vector<std::string>> below;
  for (const Fact& fact : node.named("pcie.parent")) {
    if (!is_endpoint(node, fact.signal->subject)) continue;
    std::string at = value_text(*fact.signal);
    for (int hop = 0; hop < 16; ++hop) {
      below[at].push_back(fact.signal->subject);
      const Signal* up = node.find("pcie.parent", at);
      if (!up) break;
      at = value_text(*up);
    }
  }
  std::vector<Derived> found;
  for (const Fact& fact : node.named("pcie.acs_redirect")) {
    if (!(number_of(*fact.signal) > 0)) continue;
    const auto devices = below.find(fact.signal->subject);
    const Signal* flags = node.find("pcie.acs", fact.signal->subject);
    Derived derived{{devices == below.end() ? "acs.somewhere" : "acs.on_path",
                     fact.signal->subject,
                     "",
                     flags ? value_text(*flags) : "redirection on",
                     "",
                     {},
                     ""},
                    {fact.signal},
                    {}};
    if (devices != below.end()) derived.words = {{"below", list_text(devices->second, 4)}};
    found.push_back(std::move(derived));
  }
  for (Derived& derived : found) node.add(std::move(derived));
}

bool is_gdr(const Signal& signal) { return value_text(signal).find("GDRDMA") != std::string::npos; }
bool is_network(const Signal& signal) { return value_text(signal).starts_with("NET/"); }

/// "[send] via NET/IB/0/GDRDMA" while "[receive] via NET/IB/1".
void gdr_one_side(NodeFacts& node) {
  const auto scan = [&](const char* name) {
    std::pair<const Signal*, const Signal*> with_without{nullptr, nullptr};
    for (const Fact& fact : node.named(name)) {
      if (!is_network(*fact.signal)) continue;
      (is_gdr(*fact.signal) ? with_without.first : with_without.second) = fact.signal;
    }
    return with_without;
  };
  const auto send = scan("nccl.send"), receive = scan("nccl.receive");
  const Signal *with = nullptr, *without = nullptr;
  const char* text = nullptr;
  if (send.first && !receive.first && receive.second) {
    with = send.first, without = receive.second;
    text = "sends with it, receives without";
  } else if (receive.first && !send.first && send.second) {
    with = receive.first, without = send.second;
    text = "receives with it, sends without";
  } else if ((send.first && send.second) || (receive.first && receive.second)) {
    with = send.first && send.second ? send.first : receive.first;
    without = send.first && send.second ? send.second : receive.second;
    text = "some connections have it, others do not";
  }
  if (with) add(node, "gdr.one_side", "", text, {with, without});
}

/// NICs that NCCL takes together: RoCE beside InfiniBand, or much slower than the fastest.
void mixed_networks(NodeFacts& node) {
  std::vector<Derived> found;
  double fastest = 0;
  for (const Fact& fact : node.named("nccl.net_GBs"))
    fastest = std::max(fastest, number_of(*fact.signal));
  for (const Fact& fact : node.named("nccl.net_GBs")) {
    if (!(number_of(*fact.signal) * 2 <= fastest)) continue;
    found.push_back(
        {{"nic.slow_among_fast", fact.signal->subject, "", number_of(*fact.signal), "", {}, ""},
         {fact.signal},
         {{"fastest", number_text(fastest)}, {"where", "as NCCL's topology shows it"}}});
  }
  for (Derived& derived : found) node.add(std::move(derived));
  std::set<std::string> layers;
  std::vector<std::string> names;
  Lines lines;
  for (const Fact& fact : node.named("nccl.nic")) {
    layers.insert(value_text(*fact.signal));
    names.push_back(fact.signal->subject + " (" + value_text(*fact.signal) + ")");
    lines.push_back(fact.signal);
  }
  if (layers.size() > 1) add(node, "nccl.mixed_networks", "", list_text(names), lines);
}

void derive_access(Facts& facts, const Input&, const Context&) {
  for (NodeFacts& node : facts.nodes()) {
    all_pairs_ok(node);
    acs(node);
    gdr_one_side(node);
    mixed_networks(node);
  }
}

}  // namespace

extern const Derivation access_derivation;
const Derivation access_derivation = {"Peer access, ACS and GPUDirect RDMA", derive_access};

}  // namespace isleway::check
