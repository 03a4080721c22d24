#include "formats/topo_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "formats/cpu_mask.hpp"
#include "formats/machine_builder.hpp"
#include "formats/topo_nvlink.hpp"
#include "formats/topo_tree.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

/// Planes of switch chips that every GPU reaches. HGX boards: V100 6 (a DGX-2 has two boards
/// of 6), A100 6, H100 4, B200 2 chips; racks have 9 switch trays, of 2 chips for GB200 and of
/// 4 for Rubin. NVIDIA's papers, as cited in machines/parts/nvswitches.yaml.
int switch_planes(int nvlink_generation, bool rack) {
  switch (nvlink_generation) {
    case 2:
    case 3: return 6;
    case 4: return 4;
    case 5: return rack ? 18 : 2;
    default: return 36;
  }
}

class TopoMachine {
 public:
  TopoMachine(const TopoMatrix& matrix, const ReadContext& context, const Notebook& notes)
      : matrix_(matrix), context_(context), builder_(context_) {
    builder_.notes() = notes;
    on_grace_ = std::any_of(matrix.devices.begin(), matrix.devices.end(),
                            [](const TopoDevice& d) { return parse_int(d.gpu_numa).has_value(); });
  }

  Result<Document> build() {
    const Parts& parts = context_.catalogue->parts();
    const GpuPart* told = parts.gpu(context_.gpu);
    if (!context_.gpu.empty() && told == nullptr) return unknown_gpu(parts);

    nvlink_ = infer_nvlink(matrix_, parts, told, builder_.notes());
    note_wiring();
    if (told == nullptr) context_.gpu = guess_gpu_from_wiring(matrix_, nvlink_, on_grace_, parts);
    part_ = parts.gpu(context_.gpu);
    if (told == nullptr && part_ != nullptr)
      builder_.notes().assumed(
          fmt::format("topo -m does not name the GPU: from its NVLinks it is taken as {}; --gpu "
                      "overrides this",
                      part_->title),
          matrix_.line);

    tree_ = build_topo_tree(matrix_, builder_.notes());
    numas_ = assign_numas(matrix_, tree_, on_grace_, builder_.notes());
    note_functions_of_one_card();
    add_cpus();
    hang_devices();
    for (const TopoNvlink::Island& island : nvlink_.islands)
      island.switched ? join_switches(island) : join_pairs(island);
    return builder_.finish("topo-m");
  }

 private:
  tl::unexpected<Error> unknown_gpu(const Parts& parts) const {
    std::vector<std::string> keys;
    for (const auto& [key, part] : parts.gpus()) keys.push_back(key);
    const std::string meant = closest(context_.gpu, keys);
    return fail(
        fmt::format("--gpu {} is not in the catalogue of parts", cite(context_.gpu)), {},
        meant.empty() ? "'isleway machines' lists what there is" : fmt::format("--gpu {}", meant));
  }

  /// What the NV# cells were taken to mean, in the words of the matrix.
  void note_wiring() {
    Notebook& notes = builder_.notes();
    if (matrix_.hides_nvlink) {
      notes.incomplete(
          "this is 'topo -mp', which shows PCIe alone: NVLinks that may be there are "
          "missing here; use 'topo -m'",
          matrix_.line);
    } else if (nvlink_.islands.empty() && nvlink_.alone.size() > 1) {
      notes.assumed(
          "no NVLink is shown: taken as a machine without it (only 'topo -mp' hides "
          "NVLink; if this is one, use 'topo -m')",
          matrix_.line);
    }
    for (const TopoNvlink::Island& island : nvlink_.islands) {
      const std::size_t n = island.gpus.size();
      notes.assumed(
          island.switched
              ? fmt::format("NV{} between {} GPUs: taken as {} links each into NVSwitches",
                            island.widest, n, island.widest)
          : n == 2 ? fmt::format("NV{} between two GPUs: taken as direct links", island.widest)
                   : fmt::format("NV# between {} GPUs: taken as direct links, up to {} at "
                                 "a GPU",
                                 n, island.most_links),
          matrix_.line);
    }
  }

  /// Virtual functions fill the matrix with NICs that share one port.
  void note_functions_of_one_card() {
    constexpr std::size_t most_ports = 4;
    std::map<int, std::vector<std::string>> by_leaf;
    for (std::size_t i = 0; i < matrix_.devices.size(); ++i)
      if (!matrix_.devices[i].is_gpu)
        by_leaf[tree_.group[i][TopoTree::leaf]].push_back(matrix_.devices[i].name);
    for (const auto& [leaf, names] : by_leaf)
      if (names.size() > most_ports)
        builder_.notes().assumed(
            fmt::format("{} NICs hang on one PCIe switch and may be virtual functions of fewer "
                        "ports: {}",
                        names.size(), list_names(names)),
            matrix_.line);
  }

  void add_cpus() {
    for (const TopoNuma& numa : numas_.numas) {
      CpuInfo info;
      info.numa = numa.numa;
      if (on_grace_) {
        info.arch = "arm64";
        info.vendor = "NVIDIA";
      }
      constexpr std::size_t longest_list = 256;
      if (numa.affinity.size() <= longest_list && !may_be_cut(numa.affinity))
        if (const auto mask = CpuMask::from_ranges(numa.affinity)) info.affinity = mask->words();
      cpus_.push_back(builder_.add_cpu(0, std::move(info)));
    }
  }

  PcieWire wire() const {
    // Drivers that print NUMA Affinity are of the time of PCIe 4.
    const int by_age = matrix_.titles >= 2 ? 4 : 3;
    PcieWire wire;
    wire.generation = part_ != nullptr ? part_->pcie_generation : by_age;
    return wire;
  }

  /// The wire from a CPU to what hangs on it for `device`: where several things share a host
  /// bridge, it is numbered.
  PcieWire wire_at_cpu(std::size_t device) const {
    PcieWire at_cpu = wire();
    const int bridge = tree_.group[device][TopoTree::bridge];
    if (roots_of_bridge_.at(bridge) > 1) at_cpu.host_bridge = bridge;
    return at_cpu;
  }

  void hang_devices() {
    count_groups();
    std::vector<DeviceIndex> parents;
    for (std::size_t i = 0; i < matrix_.devices.size(); ++i) parents.push_back(parent_of(i));
    for (std::size_t i = 0; i < matrix_.devices.size(); ++i) {
      const TopoDevice& device = matrix_.devices[i];
      const bool at_cpu = builder_.device(parents[i]).kind == DeviceKind::cpu;
      const PcieWire up = at_cpu ? wire_at_cpu(i) : wire();
      if (!device.is_gpu) {
        builder_.add_nic(parents[i], {}, up, device.number, device.name, {});
        continue;
      }
      gpus_.push_back(builder_.add_gpu(parents[i], {}, up, device.number, {}));
      if (on_grace_)
        builder_.join_c2c(gpus_.back(), cpus_[static_cast<std::size_t>(numas_.of_device[i])], 1,
                          {});
    }
  }

  void count_groups() {
    std::map<int, std::pair<int, int>> bridge_of_root;  // and how many leaves it has
    for (const auto& group : tree_.group) {
      ++devices_of_leaf_[group[TopoTree::leaf]];
      root_of_leaf_[group[TopoTree::leaf]] = group[TopoTree::root];
      bridge_of_root[group[TopoTree::root]] = {group[TopoTree::bridge], 0};
    }
    for (const auto& [leaf, root] : root_of_leaf_) {
      ++leaves_of_root_[root];
      single_leaves_of_root_[root] += devices_of_leaf_[leaf] == 1;
    }
    for (const auto& [root, bridge] : bridge_of_root) ++roots_of_bridge_[bridge.first];
  }

  /// What a device hangs on: a switch of its own group, the switch above, or the CPU.
  DeviceIndex parent_of(std::size_t i) {
    const int leaf = tree_.group[i][TopoTree::leaf];
    const int root = tree_.group[i][TopoTree::root];
    const bool has_root_switch = leaves_of_root_[root] > 1;
    DeviceIndex parent = cpus_[static_cast<std::size_t>(numas_.of_device[i])];
    if (has_root_switch) {
      // Devices that are PXB to one another without a switch of their own.
      const bool several = single_leaves_of_root_[root] > 1;
      parent = switch_for(root_switch_, root, parent, wire_at_cpu(i), several);
    }
    if (devices_of_leaf_[leaf] > 1)
      parent =
          switch_for(leaf_switch_, leaf, parent, has_root_switch ? wire() : wire_at_cpu(i), false);
    return parent;
  }

  DeviceIndex switch_for(std::map<int, DeviceIndex>& switches, int group, DeviceIndex parent,
                         PcieWire up, bool stands_for_several) {
    const auto [place, is_new] = switches.try_emplace(group, DeviceIndex{0});
    if (is_new) place->second = builder_.add_pcie_switch(parent, {}, up, {stands_for_several});
    return place->second;
  }

  DeviceIndex gpu(int i) const { return gpus_[static_cast<std::size_t>(i)]; }

  void join_pairs(const TopoNvlink::Island& island) {
    for (const auto& [a, b, count] : island.pairs) {
      // GA102 boards have one bridge for all four links, so fewer means that some are down.
      const bool one_bridge = part_ != nullptr && part_->info.nvlink_links == 4 &&
                              part_->nvlink_generation == 3 && island.gpus.size() == 2;
      const int fitted = one_bridge ? std::max(4, count) : count;
      if (count < fitted)
        builder_.notes().assumed(fmt::format("NV{} where {} has 4: taken as a bridge with {} of "
                                             "its links down",
                                             count, part_->title, fitted - count),
                                 matrix_.line);
      builder_.join_gpus(gpu(a), gpu(b), count, fitted);
    }
  }

  void join_switches(const TopoNvlink::Island& island) {
    const int generation = part_ != nullptr ? part_->nvlink_generation : 4;
    const int planes = switch_planes(generation, on_grace_);
    // Two islands share no switch.
    const auto number = static_cast<std::size_t>(&island - nvlink_.islands.data());
    for (const int i : island.gpus) {
      const int links = nvlink_.widest[static_cast<std::size_t>(i)];
      const int fitted = island.widest;
      if (links < fitted)
        builder_.notes().assumed(
            fmt::format("{} links of a GPU on NVSwitch are down: NV{} where its "
                        "peers have NV{}",
                        fitted - links, links, fitted),
            matrix_.line);
      int down = fitted - links;
      for (int plane = planes - 1; plane >= 0; --plane) {
        const int here = fitted / planes + (plane < fitted % planes ? 1 : 0);
        const int down_here = std::min(down, here);
        down -= down_here;
        builder_.join_nvswitch(gpu(i), fmt::format("{}.{:02}", number, plane), here - down_here,
                               here);
      }
    }
  }

  const TopoMatrix& matrix_;
  ReadContext context_;
  MachineBuilder builder_;
  bool on_grace_ = false;
  const GpuPart* part_ = nullptr;
  TopoNvlink nvlink_;
  TopoTree tree_;
  TopoNumas numas_;
  std::vector<DeviceIndex> cpus_, gpus_;
  std::map<int, int> devices_of_leaf_, root_of_leaf_, leaves_of_root_, single_leaves_of_root_,
      roots_of_bridge_;
  std::map<int, DeviceIndex> root_switch_, leaf_switch_;
};

}  // namespace

Result<Document> machine_of_topo(const TopoMatrix& matrix, const ReadContext& context,
                                 const Notebook& notes_so_far) {
  return TopoMachine(matrix, context, notes_so_far).build();
}

}  // namespace isleway::formats
