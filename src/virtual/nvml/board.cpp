#include "isleway/virtual/nvml/board.hpp"

#include <cmath>

#include "fabric/yaml_reader.hpp"
#include "isleway/core/file.hpp"

namespace isleway::vgpu::nvml {
namespace {

constexpr int kMostWatts = 100'000, kMostMegahertz = 100'000, kMostBits = 1 << 20;

/// Entries of a section with their sources taken, which stand there for people to read.
template <class Part, class Read>
void read_section(YamlFile& file, YamlMap& root, const char* section,
                  std::map<std::string, Part, std::less<>>& into, Read read) {
  YamlMap entries(file, root.require(section), std::string("'") + section + "'");
  for (const std::string& key : entries.keys()) {
    YamlMap map(file, entries.take(key), "'" + key + "'");
    into.insert_or_assign(key, read(map));
    map.texts("source");
    map.finish();
  }
}

Board read_board(YamlMap& map) {
  Board board;
  board.power_watts = map.integer("power", 0, 1, kMostWatts);
  board.least_power_watts = map.integer("least_power", board.power_watts, 1, kMostWatts);
  board.sm_clock = map.integer("sm_clock", 0, 1, kMostMegahertz);
  board.memory_clock = map.integer("memory_clock", 0, 1, kMostMegahertz);
  board.bus_bits = map.integer("bus", 0, 1, kMostBits);
  board.frame_buffer = map.bytes("frame_buffer");
  board.fan = map.flag("fan", false);
  board.ecc = map.flag("ecc", true);
  return board;
}

}  // namespace

Result<Boards> Boards::load(const Catalogue& catalogue) {
  const auto path = catalogue.folder() / "driver" / "boards.yaml";
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  auto file = YamlFile::parse(*text, path.string());
  if (!file) return tl::unexpected(file.error());
  Boards boards(catalogue.parts());
  YamlMap root(*file, file->root(), "the file");
  root.take("sources");
  read_section(*file, root, "boards", boards.boards_, read_board);
  read_section(*file, root, "links", boards.links_, [](YamlMap& map) { return map.rate("rate"); });
  root.finish();
  if (!file->ok()) return tl::unexpected(*file->error());
  return boards;
}

Board Boards::of(const Device& gpu) const {
  const GpuPart* part = parts_->gpu(gpu.part);
  if (const auto known = boards_.find(gpu.part); known != boards_.end()) return known->second;
  Board board;
  const GpuPart* relative = parts_->guess_gpu("", gpu.gpu().sm, gpu.gpu().nvlink_links);
  if (relative != nullptr)
    if (const auto known = boards_.find(relative->key); known != boards_.end())
      board = known->second;
  if (part == nullptr) part = relative;
  if (part != nullptr && part->memory.count() > 0) board.frame_buffer = part->memory;
  return board;
}

Rate Boards::printed_rate(const Link& link) const {
  // By generation and rate, since a link does not carry its part's name: GA102's NVLink 3 is
  // slower than GA100's.
  for (const auto& [key, part] : parts_->links())
    if (part.kind == link.kind && part.generation == link.generation &&
        std::abs(part.link_rate.GBs() - link.link_rate.GBs()) < 0.5)
      if (const auto known = links_.find(key); known != links_.end()) return known->second;
  return link.link_rate;
}

}  // namespace isleway::vgpu::nvml
