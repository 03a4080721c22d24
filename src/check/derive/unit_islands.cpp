// Scale-up domains as topology files give them: NVLink islands, and the hives of AMD's GPUs.
#include <map>

#include "check/derivation.hpp"
#include "check/words.hpp"
#include "isleway/core.hpp"

namespace isleway::check {
namespace {

void judge(NodeFacts& node, const Content& content, const Unit& unit) {
  std::map<int, std::vector<std::string>> islands;
  bool amd = false;
  for (const DeviceIndex gpu : unit.gpus()) {
    islands[unit.island_of(gpu)].push_back(unit.device(gpu).name);
    amd |= unit.device(gpu).gpu().amd;
  }
  std::string members;
  std::size_t joined = 0;
  for (const auto& [island, names] : islands) {
    if (names.size() < 2) continue;
    ++joined;
    members += (members.empty() ? "{" : " {") + list_text(names) + "}";
  }
  if (joined == 0 && !amd) return;
  Derived fact{{amd ? (joined > 0 ? "unit.hives" : "unit.no_hive") : "unit.islands",
                "",
                "",
                double(joined),
                "",
                {},
                ""},
               {},
               {{"members", members}, {"gpus", std::to_string(unit.gpus().size())}}};
  for (const Fact& read : node.named("output.read"))
    if (read.signal->where.file == content.file && fact.from.empty())
      fact.from.push_back(read.signal);
  node.add(std::move(fact));
}

void derive_unit_islands(Facts& facts, const Input& input, const Context&) {
  for (NodeFacts& node : facts.nodes()) {
    // A matrix says it better, and a partial file says nothing of it.
    if (node.has("topo.link") || node.has("declared.no_gpu_elements")) continue;
    for (const Content& content : input.contents) {
      const auto* unit = std::get_if<std::shared_ptr<const Unit>>(&content.document.content);
      if (unit && content.node == node.name() && content.document.format != "nccl-log")
        judge(node, content, **unit);
    }
  }
}

}  // namespace

extern const Derivation unit_islands_derivation;
const Derivation unit_islands_derivation = {"Scale-up domains of topology files",
                                            derive_unit_islands};

}  // namespace isleway::check
