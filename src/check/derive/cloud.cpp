// Virtual machines whose provider has a topology file for NCCL that is not in use.
#include "check/derivation.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

/// A line that says that this is a virtual machine of Azure: its kernel, or its board.
const Signal* azure_line(const NodeFacts& node) {
  if (const Signal* kernel = node.find("node.kernel");
      kernel && is_like(value_text(*kernel), "*-azure*"))
    return kernel;
  if (const Signal* product = node.find("node.product");
      product && is_like_any(value_text(*product), {"*Microsoft Corporation*Virtual*"}))
    return product;
  const Signal* hypervisor = node.find("node.hypervisor");
  return hypervisor && is_like_any(value_text(*hypervisor), {"*Microsoft*"}) ? hypervisor : nullptr;
}

/// Where NCCL's log or its variables are shown, a variable that is not there is not set.
bool shows_variables(const NodeFacts& node) {
  for (const Fact& fact : node.named("env"))
    if (fact.signal->subject.starts_with("NCCL_")) return true;
  return node.has("nccl.network") || node.has("nccl.max_GBs");
}

void derive_cloud(Facts& facts, const Input&, const Context&) {
  for (NodeFacts& node : facts.nodes()) {
    const Signal* azure = azure_line(node);
    const Product* product = node.product_of("");
    // Types with one or two GPUs, or cards, have no network of rails to be described.
    if (!azure || !product || product->form != "sxm" || !shows_variables(node)) continue;
    if (node.find("env", "NCCL_TOPO_FILE")) continue;
    node.add(Derived{
        {"vm.topo_file_missing", "", "", "Azure, " + product->name, "", {}, ""}, {azure}, {}});
  }
}

}  // namespace

extern const Derivation cloud_derivation;
const Derivation cloud_derivation = {"Providers' topology files that are not in use", derive_cloud};

}  // namespace isleway::check
