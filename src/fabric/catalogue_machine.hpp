// From a machine's YAML to the parts of a Unit. The form is described in docs/machines.md.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fabric/parts_reader.hpp"
#include "fabric/yaml_reader.hpp"
#include "isleway/fabric/parts.hpp"
#include "isleway/fabric/unit.hpp"

namespace isleway {

class MachineReader {
 public:
  MachineReader(const Parts& parts, YamlFile& file) : parts_(parts), file_(file) {}

  /// What the file describes; only good while file.ok().
  UnitParts read();

 private:
  struct Nic {
    const NicPart* part;
    std::string name;
  };

  void read_header(YamlMap& root);
  void read_cpus(YamlMap& root);
  void read_gpus(YamlMap& root);
  void read_nics(YamlMap& root);
  void read_c2c(YamlMap& root);
  void check_source(YamlMap& block);
  template <class Part>
  const Part* require_part(YamlMap& map, std::string_view kind,
                           const std::map<std::string, Part, std::less<>>& known);

  // One host's devices and PCIe tree.
  void add_host(int host, const YAML::Node& tree);
  void add_cpus();
  void add_gpus();
  void add_nics();
  void add_tree(YamlMap& tree);
  void hang(DeviceIndex parent, const YAML::Node& item, int depth);
  void hang_switch(DeviceIndex parent, const YAML::Node& item, int depth);
  void hang_device(DeviceIndex parent, const YAML::Node& at, const std::string& name,
                   int generation, int lanes);
  void check_all_hang(const YAML::Node& at);
  void add_c2c();
  DeviceIndex add_device(Device device, const YAML::Node& at);

  // NVLink, over the GPUs of all hosts.
  void read_nvlink(YamlMap& root);
  void read_switches(const YAML::Node& node);
  void add_mesh(const YAML::Node& at, int links);
  void read_matrix(const YAML::Node& node);
  void read_bridges(const YAML::Node& node);
  void join(std::size_t gpu_a, std::size_t gpu_b, int links);
  bool fits_gpu(const YAML::Node& at, int links);
  void check_link_counts(const YAML::Node& at);

  void assign_bus_ids();

  const Parts& parts_;
  YamlFile& file_;
  SourceList sources_;
  UnitParts unit_;

  const CpuPart* cpu_ = nullptr;
  int sockets_ = 1, numa_per_socket_ = 1;
  std::vector<std::string> affinity_;
  const GpuPart* gpu_ = nullptr;
  int gpus_per_host_ = 0;
  std::vector<Nic> nics_;
  int pcie_generation_ = 0;
  const LinkPart* c2c_ = nullptr;
  int c2c_links_ = 0;
  const LinkPart* nvlink_ = nullptr;

  // Of the host that is being built: device by lower-case name, and what each hangs from.
  std::int16_t host_ = 0, pcie_switches_ = 0;
  std::map<std::string, DeviceIndex> by_name_;
  std::map<DeviceIndex, DeviceIndex> parent_;
  std::vector<DeviceIndex> cpus_;
  std::vector<DeviceIndex> gpus_;  ///< of all hosts
};

template <class Part>
const Part* MachineReader::require_part(YamlMap& map, std::string_view kind,
                                        const std::map<std::string, Part, std::less<>>& known) {
  const std::string key = map.required_text("part");
  const auto found = known.find(key);
  if (found != known.end()) return &found->second;
  if (key.empty()) return nullptr;
  std::vector<std::string> keys;
  for (const auto& [name, part] : known) keys.push_back(name);
  file_.fail_unknown(map.take("part"), kind, key, keys);
  return nullptr;
}

}  // namespace isleway
