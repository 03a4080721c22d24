// Measurements against Isleway's own simulation of the machine.
#include <fmt/format.h>

#include <algorithm>

#include "check/derivation.hpp"
#include "check/words.hpp"
#include "isleway/core.hpp"
#include "isleway/verify.hpp"

namespace isleway::check {
namespace {

using verify::Comparison;

NodeFacts* node_of(Facts& facts, const std::string& name) {
  for (NodeFacts& node : facts.nodes())
    if (node.name() == name) return &node;
  return nullptr;
}

/// A line of the measurement, for evidence: the departure's first, else the table's last.
const Signal* line_of(const NodeFacts& node, const Comparison& comparison) {
  const Signal* last = nullptr;
  for (const char* name : {"bench.time_us", "bench.busbw_GBs"})
    for (const Fact& fact : node.named(name)) {
      last = fact.signal;
      if (comparison.departure &&
          parse_int(last->peer) == comparison.points[comparison.departure->first].bytes)
        return last;
    }
  if (last) return last;
  for (const std::string_view name : node.names_like("copy.*"))
    for (const Fact& fact : node.named(name))
      if (fact.signal->where.line >= comparison.line) return fact.signal;
  return nullptr;
}

void add(NodeFacts& node, const Comparison& comparison, const std::string& machine) {
  std::string causes;
  for (const verify::Cause& cause : comparison.causes)
    causes += (causes.empty() ? "" : "; or ") + cause.title + " (look at: " + cause.remedy + ")";
  Derived fact{
      {std::string("bandwidth.") + verify::name_of(comparison.verdict),
       "",
       "",
       comparison.why,
       "",
       {},
       ""},
      {},
      {{"table", comparison.title},
       {"machine", machine},
       {"cause", causes.empty() ? "no single fault or setting that is simulated explains it"
                                : "simulated with one thing wrong, the machine behaves like "
                                  "this with: " +
                                      causes}}};
  if (const Signal* line = line_of(node, comparison)) fact.from.push_back(line);
  node.add(std::move(fact));
}

/// The machine that a measurement was made on: the user's, or the one its GPUs name.
std::optional<Fabric> machine_of(const NodeFacts& node, const Content& content,
                                 const Context& context) {
  if (context.machine) return context.machine;
  std::vector<std::string> devices, hosts;
  if (const auto* tables = std::get_if<formats::NcclTestsTables>(&content.document.content)) {
    for (const auto& table : *tables)
      if (devices.empty()) devices = table.devices, hosts = table.hosts;
  } else if (const auto* copies = std::get_if<formats::CopyTables>(&content.document.content)) {
    devices = copies->devices;
  }
  if (devices.empty())
    for (const Fact& fact : node.named("gpu.name"))
      if (gpu_number(fact.signal->subject) >= 0) devices.push_back(value_text(*fact.signal));
  if (devices.empty()) return {};
  auto guess = verify::guess_machine(context.catalogue, devices, hosts);
  if (!guess) return {};
  return std::move(guess->fabric);
}

void judge(NodeFacts& node, const Content& content, const Context& context) {
  const auto* tables = std::get_if<formats::NcclTestsTables>(&content.document.content);
  const auto* copies = std::get_if<formats::CopyTables>(&content.document.content);
  if (!tables && !copies) return;
  auto machine = machine_of(node, content, context);
  if (!machine) {
    node.add(Derived{{"bandwidth.no_machine", "", "", content.file, "", {}, ""}, {}, {}});
    return;
  }
  const std::string name = machine->name();
  const verify::Setup setup{*std::move(machine), {}};
  const auto engine = make_analytic_engine();
  const formats::NcclInfo no_log;
  const verify::CompareContext compare{context.catalogue.parts(), *engine, no_log};
  if (tables)
    for (const auto& table : *tables) {
      const auto comparison = verify::compare_table(table, setup, compare);
      if (comparison) add(node, *comparison, name);
    }
  std::vector<std::string> skipped;
  if (copies)
    if (const auto comparisons = verify::compare_copies(*copies, setup, compare, skipped))
      for (const Comparison& comparison : *comparisons) add(node, comparison, name);
}

void derive_bandwidth(Facts& facts, const Input& input, const Context& context) {
  for (const Content& content : input.contents)
    if (NodeFacts* node = node_of(facts, content.node)) judge(*node, content, context);
}

}  // namespace

extern const Derivation bandwidth_derivation;
const Derivation bandwidth_derivation = {"Measurements against the simulated machine",
                                         derive_bandwidth};

}  // namespace isleway::check
