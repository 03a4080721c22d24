// Driver, fabric manager, CUDA and NCCL: which of them do not fit.
#include "check/derivation.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

using Words = std::vector<std::pair<std::string, std::string>>;

void add(NodeFacts& node, const char* name, const Signal& what, const Signal& against,
         Words words) {
  words.emplace_back("against", value_text(against));
  node.add(
      Derived{{name, "", "", value_text(what), "", {}, ""}, {&what, &against}, std::move(words)});
}

/// Package names carry a build after the version: "580.65.06-1".
std::string_view bare(std::string_view version) {
  return version.substr(0, version.find_first_of("-+~ "));
}

void same_as_driver(NodeFacts& node, const char* other, const char* fact, const Signal& driver) {
  for (const Fact& found : node.named(other))
    if (bare(value_text(*found.signal)) != bare(value_text(driver))) {
      add(node, fact, *found.signal, driver, {});
      return;
    }
}

void cuda(NodeFacts& node, const Signal& driver, const VersionTable& table) {
  // nvidia-smi's header names the newest CUDA that the driver runs: no demand on it. Packages
  // for forward compatibility bring what a driver lacks.
  for (const Fact& fact : node.named("package.version"))
    if (fact.signal->subject.starts_with("cuda-compat")) return;
  for (const char* name : {"cuda.toolkit", "cuda.runtime"})
    for (const Fact& fact : node.named(name)) {
      const auto* entry = table.find_cuda(value_text(*fact.signal));
      if (!entry) continue;
      const std::string version = value_text(driver);
      const bool is_toolkit = std::string_view(name) == "cuda.toolkit";
      if (is_older(version, entry->minor))
        add(node, is_toolkit ? "version.toolkit_too_new" : "version.cuda_too_new", *fact.signal,
            driver, {{"needs", entry->minor}});
      else if (!is_toolkit && is_older(version, entry->driver))
        add(node, "version.cuda_minor", *fact.signal, driver, {{"needs", entry->driver}});
    }
}

/// cuDNN's builds: each is for one major version of CUDA, and early ones know no later CUDA.
void cudnn(NodeFacts& node, const VersionTable& table) {
  const Signal* version = node.find("cudnn.version");
  if (!version) return;
  for (const char* name : {"cuda.runtime", "cuda.toolkit"}) {
    const Signal* cuda = node.find(name);
    if (!cuda) continue;
    const std::string release = value_text(*cuda);
    for (const auto& entry : table.cudnn_cuda) {
      if (entry.cuda != release.substr(0, release.find('.'))) continue;
      const std::string text = value_text(*version);
      const bool early = is_older(text, entry.from);
      // "9.10" is the last: 9.10.2 still is.
      const bool late = !entry.until.empty() && is_older(entry.until + ".99999", text);
      if (early || late)
        add(node, "version.cudnn_cuda", *version, *cuda,
            {{"needs", early ? entry.from + " or later" : "at most " + entry.until}});
    }
    return;
  }
}

void least(NodeFacts& node, const char* name, const char* fact,
           const std::vector<VersionTable::Least>& table) {
  const Signal* version = node.find(name);
  const Product* product = node.product_of("");
  if (!version || !product) return;
  for (const auto& entry : table) {
    if (entry.architecture != product->architecture) continue;
    if (!is_older(value_text(*version), entry.version)) continue;
    Derived derived{{fact, "", "", value_text(*version), "", {}, ""},
                    {version},
                    {{"needs", entry.version}, {"product", product->name}, {"gains", entry.gains}}};
    node.add(std::move(derived));
  }
}

void derive_versions(Facts& facts, const Input&, const Context& context) {
  const VersionTable& table = context.rules.versions;
  for (NodeFacts& node : facts.nodes()) {
    if (const Signal* driver = node.find("driver.version")) {
      same_as_driver(node, "fm.version", "version.fabric_manager", *driver);
      same_as_driver(node, "driver.library_version", "version.library", *driver);
      same_as_driver(node, "imex.version", "version.imex", *driver);
      cuda(node, *driver, table);
    }
    least(node, "driver.version", "version.driver_too_old", table.drivers);
    least(node, "nccl.version", "version.nccl_old", table.nccl);
    least(node, "cudnn.version", "version.cudnn_old", table.cudnn);
    cudnn(node, table);
  }
}

}  // namespace

extern const Derivation versions_derivation;
const Derivation versions_derivation = {"Versions that have to fit", derive_versions};

}  // namespace isleway::check
