// Fabric state over nodes: who shares an NVLink domain, and fields that cannot be.
#include <algorithm>
#include <map>
#include <set>

#include "check/derivation.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

using Words = std::vector<std::pair<std::string, std::string>>;

bool is_uuid(std::string_view text) {
  constexpr std::size_t kDigitsAndDashes = 36;
  return text.size() == kDigitsAndDashes && is_like(text, "*-*-*-*-*");
}
bool is_zero(std::string_view text) {
  return text.find_first_not_of("0-.xX") == text.npos && !text.empty();
}
bool is_number(std::string_view text) {
  if (text.starts_with("0x"))
    return text.find_first_not_of("0123456789abcdefABCDEF", 2) == text.npos;
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}
bool is_known(std::string_view text) { return !text.empty() && text.find("N/A") == text.npos; }

/// One node's domain, as "uuid.clique".
struct Domain {
  std::string uuid, clique;
  const Signal* line = nullptr;
};

/// A UUID where a number belongs, or the other way about; two answers of one node.
void impossible_fields(NodeFacts& node) {
  std::map<std::string, std::set<std::string>> cliques;
  std::vector<const Signal*> wrong;
  std::string fields;
  for (const Fact& fact : node.named("fabric.clique")) {
    const std::string text = value_text(*fact.signal);
    if (!is_known(text) || is_number(text)) continue;
    wrong.push_back(fact.signal);
    fields = "CliqueId is " + text;
  }
  for (const Fact& fact : node.named("fabric.cluster_uuid")) {
    const std::string text = value_text(*fact.signal);
    if (!is_known(text) || is_uuid(text) || is_zero(text)) continue;
    wrong.push_back(fact.signal);
    fields += (fields.empty() ? "" : ", ") + std::string("ClusterUUID is ") + text;
  }
  if (wrong.empty()) return;
  Derived fact{{"fabric.damaged", "", "", double(wrong.size()), "", {}, ""},
               std::move(wrong),
               {{"fields", fields}}};
  node.add(std::move(fact));
}

std::vector<Domain> domains_of(const NodeFacts& node) {
  std::vector<Domain> domains;
  std::set<std::string> seen;
  for (const Fact& fact : node.named("fabric.cluster_uuid")) {
    const std::string uuid = value_text(*fact.signal);
    if (!is_uuid(uuid) || is_zero(uuid)) continue;
    const Signal* clique = node.find("fabric.clique", fact.signal->subject);
    const std::string number = clique ? value_text(*clique) : "";
    if (seen.insert(uuid + "." + number).second) domains.push_back({uuid, number, fact.signal});
  }
  return domains;
}

/// GPUs of one node in different domains, or one of them in none.
void inside_node(NodeFacts& node, const std::vector<Domain>& domains) {
  if (domains.size() > 1) {
    Derived fact{{"fabric.node_divided", "", "", double(domains.size()), "", {}, ""}, {}, {}};
    for (const Domain& domain : domains) fact.from.push_back(domain.line);
    node.add(std::move(fact));
  }
  if (domains.empty()) return;
  for (const Fact& fact : node.named("fabric.cluster_uuid"))
    if (gpu_number(fact.signal->subject) >= 0 && is_zero(value_text(*fact.signal))) {
      Derived derived{{"fabric.gpu_without_domain", fact.signal->subject, "", 1.0, "", {}, ""},
                      {fact.signal, domains[0].line},
                      {}};
      node.add(std::move(derived));
    }
}

void derive_fabric_cliques(Facts& facts, const Input&, const Context&) {
  std::map<std::string, std::vector<std::string>> nodes_of;
  std::map<std::string, const Signal*> line_of;
  for (NodeFacts& node : facts.nodes()) {
    impossible_fields(node);
    const auto domains = domains_of(node);
    inside_node(node, domains);
    for (const Domain& domain : domains) {
      const std::string name = domain.uuid + "." + domain.clique;
      if (!node.name().empty()) nodes_of[name].push_back(node.name());
      line_of.emplace(name, domain.line);
    }
  }
  if (nodes_of.empty()) return;
  std::string members;
  std::vector<const Signal*> from;
  std::size_t nodes = 0;
  for (const auto& [name, names] : nodes_of) {
    nodes += names.size();
    members += (members.empty() ? "{" : " {") + list_text(names) + "}";
    from.push_back(line_of[name]);
  }
  if (nodes < 2) return;
  Derived fact{{nodes_of.size() == 1 ? "fabric.one_domain" : "fabric.domains",
                "",
                "",
                double(nodes_of.size()),
                "",
                {},
                ""},
               std::move(from),
               {{"members", members}, {"nodes", std::to_string(nodes)}}};
  facts.cluster().add(std::move(fact));
}

}  // namespace

extern const Derivation fabric_cliques_derivation;
const Derivation fabric_cliques_derivation = {"NVLink domains over nodes", derive_fabric_cliques};

}  // namespace isleway::check
