#include "fabric/parts_reader.hpp"

#include <fmt/format.h>

namespace isleway {
namespace {

constexpr int kMaxCount = 4096;

struct KindName {
  const char* name;
  LinkKind kind;
};
constexpr KindName kKinds[] = {{"nvlink", LinkKind::nvlink},
                               {"xgmi", LinkKind::xgmi},
                               {"c2c", LinkKind::c2c},
                               {"pcie", LinkKind::pcie},
                               {"smp", LinkKind::smp}};

}  // namespace

void SourceList::read(YamlFile& file, YamlMap& map) {
  const YAML::Node node = map.take("sources");
  if (!node.IsDefined()) return;
  YamlMap sources(file, node, "'sources'");
  for (const std::string& key : sources.keys()) by_key_[key] = sources.required_text(key);
}

std::string SourceList::resolve(YamlFile& file, YamlMap& map, const std::string& fallback) const {
  const YAML::Node at = map.node();
  std::string all;
  for (const std::string& text : map.texts("source")) {
    const auto known = by_key_.find(text);
    if (known == by_key_.end() && text.find(' ') == std::string::npos &&
        text.find("://") == std::string::npos) {
      std::vector<std::string> keys;
      for (const auto& [key, value] : by_key_) keys.push_back(key);
      file.fail_unknown(map.take("source"), "entry of 'sources' called", text, keys);
    }
    if (!all.empty()) all += "; ";
    all += known == by_key_.end() ? text : known->second;
  }
  return all.empty() ? fallback : all;
}

Result<void> PartsReader::read(const std::string& text, const std::string& file_name) {
  auto file = YamlFile::parse(text, file_name);
  if (!file) return tl::unexpected(file.error());
  file_ = &*file;
  sources_ = SourceList();
  YamlMap root(*file, file->root(), "the file");
  sources_.read(*file, root);
  read_section(root, "gpus", "GPU", parts_.gpus_,
               [this](YamlMap& m, GpuPart& p) { read_gpu(m, p); });
  read_section(root, "links", "link", parts_.links_,
               [this](YamlMap& m, LinkPart& p) { read_link(m, p); });
  read_section(root, "nvswitches", "NVSwitch", parts_.nvswitches_,
               [this](YamlMap& m, NvswitchPart& p) { read_nvswitch(m, p); });
  read_section(root, "nics", "NIC", parts_.nics_,
               [this](YamlMap& m, NicPart& p) { read_nic(m, p); });
  read_section(root, "cpus", "CPU", parts_.cpus_,
               [this](YamlMap& m, CpuPart& p) { read_cpu(m, p); });
  read_section(root, "constants", "constant", parts_.constants_,
               [this](YamlMap& m, Constant& c) { read_constant(m, c); });
  root.finish();
  if (!file->ok()) return tl::unexpected(*file->error());
  return {};
}

template <class Part, class Read>
void PartsReader::read_section(YamlMap& file, std::string_view section, std::string_view what,
                               std::map<std::string, Part, std::less<>>& into, Read read_part) {
  const YAML::Node node = file.take(section);
  if (!node.IsDefined()) return;
  YamlMap entries(*file_, node, fmt::format("'{}'", section));
  for (const std::string& key : entries.keys()) {
    if (into.contains(key))
      file_->fail(entries.key_node(key), fmt::format("{} '{}' is described twice", what, key));
    YamlMap map(*file_, entries.take(key), fmt::format("{} '{}'", what, key));
    Part part;
    if constexpr (requires { part.key; }) part.key = key;
    read_part(map, part);
    part.source = sources_.resolve(*file_, map);
    if (part.source.empty())
      file_->fail(entries.key_node(key), fmt::format("{} '{}' lacks 'source'", what, key),
                  "where its numbers come from");
    map.finish();
    into.emplace(key, std::move(part));
  }
}

void PartsReader::read_gpu(YamlMap& map, GpuPart& part) {
  part.title = map.required_text("title");
  part.info.amd = map.flag("amd", false);
  part.info.gcn = map.text("gcn");
  part.info.sm = map.integer("sm", 0, 0, 1000);
  part.sms = map.integer("sms", 0, 0, kMaxCount);
  part.typical = map.flag("typical", false);
  part.info.pcie_p2p = map.flag("pcie_p2p", true);
  part.info.gpudirect = map.flag("gpudirect", true);
  if (const YAML::Node node = map.take("nvlink"); node.IsDefined()) {
    YamlMap nvlink(*file_, node, "'nvlink'");
    part.nvlink_generation = nvlink.integer("generation", 0, 0, 15);
    part.info.nvlink_links = nvlink.integer("links", 0, 0, 255);
    part.nvlink_part = nvlink.text("part", fmt::format("nvlink{}", part.nvlink_generation));
    nvlink.finish();
  }
  if (const YAML::Node node = map.take("pcie"); node.IsDefined()) {
    YamlMap pcie(*file_, node, "'pcie'");
    part.pcie_generation = pcie.integer("generation", 0, 1, 15);
    part.pcie_lanes = pcie.integer("lanes", 16, 1, 32);
    pcie.finish();
  }
  part.memory = map.bytes("memory");
  part.memory_rate = map.rate("memory_rate");
  part.local_copy_rate = map.rate("local_copy_rate");
  part.pci_device_ids = map.texts("pci_ids");
}

Efficiency PartsReader::read_efficiency(YamlMap& map, std::string_view key,
                                        const Efficiency& fallback) {
  const YAML::Node node = map.take(key);
  if (!node.IsDefined()) return fallback;
  YamlMap shares(*file_, node, fmt::format("'{}'", key));
  Efficiency efficiency;
  efficiency.sm = shares.number("sm", 1, 0.01, 1);
  efficiency.copy_engine = shares.number("copy_engine", 1, 0.01, 1);
  efficiency.duplex = shares.number("duplex", 1, 0.5, 1);
  shares.finish();
  return efficiency;
}

void PartsReader::read_link(YamlMap& map, LinkPart& part) {
  const YAML::Node kind = map.require("kind");
  bool known = false;
  for (const KindName& k : kKinds) {
    if (!kind.IsDefined() || !kind.IsScalar() || kind.Scalar() != k.name) continue;
    part.kind = k.kind;
    known = true;
  }
  if (!known)
    file_->fail(kind, fmt::format("link '{}' is of no known kind", part.key),
                "nvlink, xgmi, c2c, pcie or smp");
  part.generation = map.integer("generation", 0, 0, 15);
  part.lanes = map.integer("lanes", 1, 1, 64);
  part.link_rate = map.rate("rate");
  if (part.link_rate.is_zero())
    file_->fail(map.node(), fmt::format("link '{}' lacks a 'rate'", part.key));
  part.latency = map.time("latency");
  part.direct = read_efficiency(map, "direct", {});
  part.switched = read_efficiency(map, "switched", part.direct);
}

void PartsReader::read_nvswitch(YamlMap& map, NvswitchPart& part) {
  part.info.generation = map.integer("generation", 0, 1, 15);
  part.info.ports = map.integer("ports", 0, 1, kMaxCount);
  part.info.multicast = map.flag("multicast", false);
  part.port_rate = map.rate("port_rate");
  part.latency = map.time("latency");
}

void PartsReader::read_nic(YamlMap& map, NicPart& part) {
  part.title = map.required_text("title");
  part.info.rate = map.rate("rate");
  if (part.info.rate.is_zero())
    file_->fail(map.node(), fmt::format("NIC '{}' lacks a 'rate'", part.key));
  part.technology = map.text("technology", "infiniband");
  part.efficiency = map.number("efficiency", 1, 0.01, 1);
  part.info.gpudirect = map.flag("gpudirect", true);
  part.info.in_network_reduction = map.flag("in_network_reduction", false);
  part.info.max_connections = map.integer("max_connections", 0, 0, 1 << 30);
  if (const YAML::Node node = map.take("pcie"); node.IsDefined()) {
    YamlMap pcie(*file_, node, "'pcie'");
    part.pcie_generation = pcie.integer("generation", 0, 1, 15);
    part.pcie_lanes = pcie.integer("lanes", 16, 1, 32);
    pcie.finish();
  }
}

void PartsReader::read_cpu(YamlMap& map, CpuPart& part) {
  part.title = map.required_text("title");
  part.info.arch = map.text("arch", "x86_64");
  part.info.vendor = map.text("vendor");
  part.info.family = map.integer("family", 0, 0, 1 << 20);
  part.info.model = map.integer("model", 0, 0, 1 << 20);
  part.smp_rate = map.rate("smp_rate");
  part.smp_efficiency = map.number("smp_efficiency", 1, 0.01, 1);
  part.splits_tlps = map.flag("splits_tlps", false);
}

void PartsReader::read_constant(YamlMap& map, Constant& constant) {
  constant.value = map.number("value", 0, -1e15, 1e15);
  constant.unit = map.text("unit");
}

}  // namespace isleway
