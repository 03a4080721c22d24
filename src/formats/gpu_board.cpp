#include "formats/gpu_board.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace isleway::formats {
namespace {

/// A machine of the catalogue whose GPUs, all alike, form one NVLink island by themselves.
struct Board {
  std::shared_ptr<const Unit> unit;
  const GpuPart* part = nullptr;
  std::size_t gpus() const { return unit->gpus().size(); }
};

/// Bridged cards are several islands; superchips and POWER also link to their CPUs.
bool is_board(const Unit& unit) {
  const auto gpus = unit.gpus();
  if (unit.parts().hosts != 1 || gpus.size() < 2) return false;
  const auto like_first = [&](DeviceIndex gpu) {
    return unit.island_of(gpu) == unit.island_of(gpus[0]) &&
           unit.device(gpu).part == unit.device(gpus[0]).part;
  };
  const auto foreign = [&](const Link& link) {
    const bool at_cpu =
        unit.device(link.a).kind == DeviceKind::cpu || unit.device(link.b).kind == DeviceKind::cpu;
    return link.kind == LinkKind::c2c || link.kind == LinkKind::xgmi ||
           (link.kind == LinkKind::nvlink && at_cpu);
  };
  return std::all_of(gpus.begin(), gpus.end(), like_first) &&
         std::none_of(unit.links().begin(), unit.links().end(), foreign);
}

std::vector<Board> known_boards(const Catalogue& catalogue) {
  std::vector<Board> boards;
  for (const CatalogueEntry& entry : catalogue.machines()) {
    const auto unit = catalogue.unit(entry.name);
    if (!unit || !is_board(**unit)) continue;
    if (const GpuPart* part = catalogue.parts().gpu((*unit)->device((*unit)->gpus()[0]).part))
      boards.push_back({*unit, part});
  }
  return boards;
}

class BareGpus {
 public:
  BareGpus(MachineBuilder& build, const ReadContext& context, int line)
      : build_(build), parts_(context.catalogue->parts()), told_(context.gpu), line_(line) {
    for (DeviceIndex i = 0; i < build.size(); ++i) {
      const Device& device = build.device(i);
      hosts_ = std::max(hosts_, device.host + 1);
      if (device.kind == DeviceKind::gpu) gpus_.push_back(i);
      if (device.kind == DeviceKind::nic) ++nics_;
      if (device.kind == DeviceKind::cpu && cpu_.empty()) cpu_ = device.part;
    }
    // As the driver numbers them, and the builder where the file does not.
    std::stable_sort(gpus_.begin(), gpus_.end(), [&](DeviceIndex a, DeviceIndex b) {
      return build.device(a).pci.bus_id < build.device(b).pci.bus_id;
    });
  }

  void wire(const Catalogue& catalogue) {
    if (gpus_.size() < 2) return;
    const GpuPart* part = common_part();
    if (part && part->info.nvlink_links == 0) return;  // nothing is missing
    boards_ = known_boards(catalogue);
    if (!part) return note_unknown_part();
    const std::vector<const Board*> fitting = likeliest(boards_for(*part));
    if (fitting.empty())
      build_.notes().incomplete(
          fmt::format("{}: read as PCIe alone, since the catalogue has no board of {} x {}, which "
                      "would tell where the {} NVLinks of each lead",
                      kWhatIsThere, gpus_.size(), part->title, part->info.nvlink_links),
          line_);
    else wire_like(*fitting.front(), *part);
  }

 private:
  static constexpr const char* kWhatIsThere =
      "the GPUs stand here as PCI functions only, as in cloud vendors' templates, with which NCCL "
      "asks the machine's driver for models and NVLinks";

  /// Null where nothing tells it, or where the GPUs differ.
  const GpuPart* common_part() const {
    if (!told_.empty()) return parts_.gpu(told_);
    const auto part_of = [&](DeviceIndex gpu) {
      return parts_.guess_gpu(build_.device(gpu).pci.device, 0, 0);
    };
    const GpuPart* first = part_of(gpus_.front());
    const bool same = std::all_of(gpus_.begin(), gpus_.end(),
                                  [&](DeviceIndex gpu) { return part_of(gpu) == first; });
    return same ? first : nullptr;
  }

  std::vector<const Board*> boards_of_this_size() const {
    std::vector<const Board*> fitting;
    for (const Board& board : boards_)
      if (board.gpus() == gpus_.size() && hosts_ == 1) fitting.push_back(&board);
    return fitting;
  }

  /// Boards of this part; else of a sibling with other memory. Cards of the same chip for
  /// PCIe slots are on no board of any size, so they have no siblings either.
  std::vector<const Board*> boards_for(const GpuPart& part) const {
    std::vector<const Board*> exact, alike;
    for (const Board* board : boards_of_this_size()) {
      const GpuInfo& info = board->part->info;
      if (board->part == &part) exact.push_back(board);
      if (info.sm == part.info.sm && info.nvlink_links == part.info.nvlink_links)
        alike.push_back(board);
    }
    const bool on_boards = std::any_of(boards_.begin(), boards_.end(),
                                       [&](const Board& b) { return b.part == &part; });
    return exact.empty() && on_boards ? alike : exact;
  }

  /// Those first that have the CPU and the number of NICs of the file.
  std::vector<const Board*> likeliest(std::vector<const Board*> boards) const {
    const auto distance = [&](const Board* board) {
      const Unit& unit = *board->unit;
      const bool other_cpu = unit.cpus().empty() || unit.device(unit.cpus()[0]).part != cpu_;
      return std::tuple(other_cpu, std::abs(static_cast<int>(unit.nics().size()) - nics_));
    };
    std::stable_sort(boards.begin(), boards.end(),
                     [&](const Board* a, const Board* b) { return distance(a) < distance(b); });
    return boards;
  }

  void note_unknown_part() {
    constexpr std::size_t most_named = 4;
    std::vector<std::string_view> keys;
    const std::vector<const Board*> fitting = likeliest(boards_of_this_size());
    for (const Board* board : fitting)
      if (std::find(keys.begin(), keys.end(), board->part->key) == keys.end())
        keys.push_back(board->part->key);
    keys.resize(std::min(keys.size(), most_named));
    const std::string advice =
        keys.empty()
            ? "give --gpu"
            : fmt::format(
                  "give --gpu (likeliest: {}), or use a machine of the catalogue (nearest: {})",
                  fmt::join(keys, ", "), fitting.front()->unit->name());
    build_.notes().incomplete(fmt::format("{}: read as PCIe alone, far slower than with NVLink; {}",
                                          kWhatIsThere, advice),
                              line_);
  }

  void wire_like(const Board& board, const GpuPart& part) {
    const Unit& unit = *board.unit;
    int links_of_first = 0;
    for (const Link& link : unit.links()) {
      if (link.kind != LinkKind::nvlink) continue;
      const bool a_is_gpu = unit.device(link.a).kind == DeviceKind::gpu;
      const DeviceIndex from = a_is_gpu ? link.a : link.b, to = a_is_gpu ? link.b : link.a;
      if (unit.device(from).kind != DeviceKind::gpu) continue;  // between switches
      if (from == unit.gpus()[0] || to == unit.gpus()[0]) links_of_first += link.count;
      const DeviceIndex gpu = gpus_[unit.position(from)];
      if (unit.device(to).kind == DeviceKind::gpu)
        build_.join_gpus(gpu, gpus_[unit.position(to)], link.count, link.count_max);
      else build_.join_nvswitch(gpu, unit.device(to).name, link.count, link.count_max);
    }
    const std::string ground =
        told_.empty() ? fmt::format("by PCI device id {}", build_.device(gpus_.front()).pci.device)
                      : fmt::format("--gpu {}", part.key);
    const std::string way = unit.nvswitches().empty()
                                ? "directly from GPU to GPU"
                                : fmt::format("into {} NVSwitches", unit.nvswitches().size());
    build_.notes().assumed(
        fmt::format("{}: {} x {} ({}), wired as in the catalogue's {}: {} NVLinks each, {}",
                    kWhatIsThere, gpus_.size(), part.title, ground, unit.name(), links_of_first,
                    way),
        line_);
  }

  MachineBuilder& build_;
  const Parts& parts_;
  const std::string& told_;
  int line_;
  int hosts_ = 0, nics_ = 0;
  std::string cpu_;
  std::vector<DeviceIndex> gpus_;
  std::vector<Board> boards_;
};

}  // namespace

void wire_as_known_board(MachineBuilder& build, const ReadContext& context, int line) {
  BareGpus(build, context, line).wire(*context.catalogue);
}

}  // namespace isleway::formats
