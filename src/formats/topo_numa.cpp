// Which NUMA node each device hangs on: by the affinity columns, by the cells, by elimination.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "formats/topo_tree.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

/// What tells NUMA nodes apart: their number, else their CPUs, else nothing.
const std::string& key_of(const TopoDevice& device) {
  return device.numa.empty() ? device.cpu_affinity : device.numa;
}

/// "NUMA node 3", or "CPUs 0-47" where the file does not number them.
std::string place_of(const TopoDevice& device) {
  return (device.numa.empty() ? "CPUs " : "NUMA node ") + key_of(device);
}

/// "0" and, on Grace, "0,3-9,11-17", whose first node is the one with CPUs.
int numa_number(std::string_view text) {
  const auto number = parse_int(text.substr(0, text.find_first_of(",-")));
  return number && *number >= 0 && *number < 4096 ? static_cast<int>(*number) : -1;
}

class Assigner {
 public:
  Assigner(const TopoMatrix& matrix, const TopoTree& tree, bool on_grace, Notebook& notes)
      : matrix_(matrix),
        on_grace_(on_grace),
        notes_(notes),
        groups_(static_cast<std::size_t>(tree.groups[TopoTree::node])),
        known_(groups_.size() * groups_.size()) {
    for (std::size_t i = 0; i < matrix.devices.size(); ++i) {
      group_of_.push_back(static_cast<std::size_t>(tree.group[i][TopoTree::node]));
      groups_[group_of_.back()].members.push_back(i);
    }
    find_known_cells();
  }

  TopoNumas assign() {
    for (Group& group : groups_) find_key(group);
    join_equal_keys();
    place_others();
    number_numas();
    result_.of_device.resize(matrix_.devices.size());
    for (std::size_t i = 0; i < matrix_.devices.size(); ++i)
      result_.of_device[i] = groups_[group_of_[i]].numa;
    return std::move(result_);
  }

 private:
  struct Group {
    std::vector<std::size_t> members;
    std::string key;
    const TopoDevice* spokesman = nullptr;  ///< a GPU with that key
    bool has_gpu = false;
    int numa = -1;
  };

  /// Between different groups a known PCIe cell means SYS, or it would have joined them.
  void find_known_cells() {
    const std::size_t n = matrix_.devices.size();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const PathKind kind = matrix_.cell(i, j).kind;
        const bool silent = kind == PathKind::dis || kind == PathKind::nvl || kind == PathKind::loc;
        if (silent || (on_grace_ && matrix_.devices[i].is_gpu != matrix_.devices[j].is_gpu))
          continue;
        known_[group_of_[i] * groups_.size() + group_of_[j]] = true;
        known_[group_of_[j] * groups_.size() + group_of_[i]] = true;
      }
  }
  bool known(std::size_t a, std::size_t b) const { return known_[a * groups_.size() + b]; }

  void find_key(Group& group) {
    std::map<std::string, int> votes;
    for (const std::size_t i : group.members) {
      group.has_gpu |= matrix_.devices[i].is_gpu;
      if (const std::string& key = key_of(matrix_.devices[i]); !key.empty()) ++votes[key];
    }
    for (const auto& [key, count] : votes)
      if (group.key.empty() || count > votes[group.key]) group.key = key;
    for (const std::size_t i : group.members) {
      const TopoDevice& device = matrix_.devices[i];
      if (key_of(device).empty()) continue;
      if (key_of(device) == group.key) {
        if (group.spokesman == nullptr) group.spokesman = &device;
      } else {
        notes_.assumed(fmt::format("{} is near {} by its affinity, and by its cells near devices "
                                   "of {}: taken as the cells say",
                                   device.printed, place_of(device), group.key),
                       device.line);
      }
    }
  }

  int add_numa(const Group& group) {
    TopoNuma numa;
    if (group.spokesman != nullptr) {
      numa.numa = numa_number(group.spokesman->numa);
      numa.affinity = group.spokesman->cpu_affinity;
      if (may_be_cut(numa.affinity))
        notes_.incomplete(fmt::format("CPU affinity {} is only the start of a list, as nvidia-smi "
                                      "cuts it: the CPUs of that NUMA node are not known",
                                      numa.affinity),
                          group.spokesman->line);
    }
    result_.numas.push_back(std::move(numa));
    return static_cast<int>(result_.numas.size()) - 1;
  }

  void join_equal_keys() {
    std::map<std::string, std::vector<std::size_t>> by_key;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (!groups_[g].key.empty()) by_key[groups_[g].key].push_back(g);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].key.empty() || groups_[g].numa >= 0) continue;
      const int numa = add_numa(groups_[g]);
      const std::vector<std::size_t>& equal = by_key[groups_[g].key];
      for (const std::size_t other : equal) groups_[other].numa = numa;
      if (equal.size() > 1) note_joined(equal);
    }
  }

  void note_joined(const std::vector<std::size_t>& equal) {
    std::set<std::size_t> far;
    for (const std::size_t a : equal)
      for (const std::size_t b : equal)
        if (a != b && known(a, b)) far.insert(a);
    const std::string place = place_of(*groups_[equal[0]].spokesman);
    if (far.size() > 1)
      notes_.assumed(fmt::format("SYS between devices whose affinity is {}: taken as NODE, with "
                                 "host bridges of their own: {}",
                                 place, list_names(names_in(far))),
                     matrix_.line);
    if (far.size() < equal.size() && !on_grace_)
      notes_.assumed(fmt::format("NVLink hides the PCIe paths between GPUs of {}: each is taken to "
                                 "have a host bridge of its own",
                                 place),
                     matrix_.line);
  }

  std::vector<std::string> names_in(const std::set<std::size_t>& groups) const {
    std::vector<std::string> names;
    for (const std::size_t g : groups)
      for (const std::size_t i : groups_[g].members) names.push_back(matrix_.devices[i].printed);
    return names;
  }

  /// Groups without affinity: GPUs of a file without those columns, and NICs far from any GPU.
  void place_others() {
    std::vector<std::size_t> others;
    for (const bool with_gpu : {true, false})
      for (std::size_t g = 0; g < groups_.size(); ++g)
        if (groups_[g].key.empty() && groups_[g].has_gpu == with_gpu) others.push_back(g);
    if (on_grace_ && !result_.numas.empty()) return spread(others);
    for (const std::size_t g : others) {
      std::vector<bool> is_far(result_.numas.size());
      for (std::size_t other = 0; other < groups_.size(); ++other)
        if (groups_[other].numa >= 0 && known(g, other))
          is_far[static_cast<std::size_t>(groups_[other].numa)] = true;
      const auto near = std::find(is_far.begin(), is_far.end(), false);
      if (near != is_far.end()) {
        groups_[g].numa = static_cast<int>(near - is_far.begin());
        notes_.assumed(
            "no cell and no affinity tells where some devices hang: taken to be on the "
            "first NUMA node that none contradicts",
            matrix_.line);
      } else {
        if (!groups_[g].has_gpu && !result_.numas.empty())
          notes_.assumed(fmt::format("SYS to every GPU, so put on a NUMA node without one: {}",
                                     list_names(names_in({g}))),
                         matrix_.line);
        groups_[g].numa = add_numa(groups_[g]);
      }
    }
  }

  void spread(const std::vector<std::size_t>& others) {
    for (std::size_t k = 0; k < others.size(); ++k)
      groups_[others[k]].numa = static_cast<int>(k * result_.numas.size() / others.size());
    if (!others.empty())
      notes_.assumed(
          "on Grace, topo -m prints SYS between every GPU and NIC: the NICs are spread "
          "evenly over the CPUs, in order",
          matrix_.line);
  }

  void number_numas() {
    std::set<int> used;
    int unnumbered = 0;
    for (TopoNuma& numa : result_.numas) {
      if (numa.numa >= 0 && !used.insert(numa.numa).second) numa.numa = -1;
      unnumbered += numa.numa < 0;
    }
    if (unnumbered == 0 || result_.numas.size() == 1) return;
    notes_.assumed("the file does not number all NUMA nodes: free numbers are given in order",
                   matrix_.line);
    int next = 0;
    for (TopoNuma& numa : result_.numas) {
      if (numa.numa >= 0) continue;
      while (used.count(next) > 0) ++next;
      numa.numa = next;
      used.insert(next);
    }
  }

  const TopoMatrix& matrix_;
  const bool on_grace_;
  Notebook& notes_;
  std::vector<Group> groups_;
  std::vector<bool> known_;
  std::vector<std::size_t> group_of_;
  TopoNumas result_;
};

}  // namespace

bool may_be_cut(std::string_view cpus) {
  const std::vector<std::string_view> pieces = split(cpus, ',');
  const bool singles = cpus.find('-') == std::string_view::npos;
  // Sockets that take turns number their CPUs in steps; three single CPUs are no socket.
  return pieces.size() >= 6 || (singles && pieces.size() >= 3);
}

TopoNumas assign_numas(const TopoMatrix& matrix, const TopoTree& tree, bool on_grace,
                       Notebook& notes) {
  return Assigner(matrix, tree, on_grace, notes).assign();
}

}  // namespace isleway::formats
