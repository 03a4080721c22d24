#include "nccl/graph_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>

#include "isleway/core.hpp"

namespace isleway::nccl {
namespace {

constexpr int kHostShift = 56;
constexpr int kMostChannels = 64;  // NCCL's MAXCHANNELS

/// Paths by the names that NCCL gives them, which has LOC for the device itself.
const char* path_name(PathKind kind) { return kind == PathKind::loc ? "LOC" : name_of(kind); }

std::optional<PathKind> parse_path(std::string_view text) {
  for (int kind = 0; kind <= static_cast<int>(PathKind::dis); ++kind)
    if (text == path_name(static_cast<PathKind>(kind))) return static_cast<PathKind>(kind);
  return std::nullopt;
}

void set(pugi::xml_node node, const char* name, const std::string& value) {
  node.append_attribute(name).set_value(value.c_str());
}

void add_device(pugi::xml_node channel, const char* kind, std::uint64_t number) {
  set(channel.append_child(kind), "dev", fmt::format("{:x}", number));
}

int node_of_rank(const System& system, int rank) {
  for (const int gpu : system.of(NodeType::gpu))
    if (system.node(gpu).rank == rank) return gpu;
  return -1;
}

int find_device(const System& system, NodeType type, std::uint64_t number) {
  for (const int node : system.of(type))
    if (device_number(system, node) == number) return node;
  return -1;
}

void write_channel(pugi::xml_node parent, const System& system, const SearchGraph& graph, int c) {
  pugi::xml_node channel = parent.append_child("channel");
  const bool network = system.count(NodeType::net) > 0;
  if (network) add_device(channel, "net", device_number(system, graph.inter[c].first));
  for (const int rank : graph.intra[c]) {
    add_device(channel, "gpu", device_number(system, node_of_rank(system, rank)));
    if (has_heads(graph.pattern)) break;  // the head alone counts
  }
  if (network) add_device(channel, "net", device_number(system, graph.inter[c].second));
}

/// The values of a graph's own attributes. Error: which of them makes no sense.
Result<SearchGraph> read_attributes(pugi::xml_node node) {
  SearchGraph graph;
  const auto intra = parse_path(node.attribute("typeintra").value());
  const auto inter = parse_path(node.attribute("typeinter").value());
  if (!intra || !inter)
    return fail("typeintra or typeinter is no path type",
                "LOC, NVL, NVB, C2C, PIX, PXB, P2C, PXN, PHB, SYS, NET or DIS");
  graph.type_intra = *intra;
  graph.type_inter = *inter;
  graph.pattern = node.attribute("pattern").as_int(-1);
  if (graph.pattern < balanced_tree || graph.pattern > collnet_direct_pattern)
    return fail(fmt::format("pattern {}", graph.pattern), "1 to 6");
  graph.cross_nic = node.attribute("crossnic").as_int();
  graph.bw_intra = node.attribute("speedintra").as_float();
  graph.bw_inter = node.attribute("speedinter").as_float();
  graph.latency_inter = node.attribute("latencyinter").as_double();
  graph.same_channels = node.attribute("samechannels").as_int() != 0;
  constexpr float kMostGBs = 5000;
  if (!(graph.bw_intra >= 0 && graph.bw_intra <= kMostGBs) ||
      !(graph.bw_inter >= 0 && graph.bw_inter <= kMostGBs) ||
      !(graph.latency_inter >= 0 && graph.latency_inter < 1e6))
    return fail("a speed or latency out of range", "0 to 5000 GB/s");
  return graph;
}

}  // namespace

std::uint64_t device_number(const System& system, int node) {
  if (node < 0) return 0;
  const SystemNode& at = system.node(node);
  const int number = at.type == NodeType::gpu ? at.cuda_device : at.port_number;
  return (static_cast<std::uint64_t>(at.system) << kHostShift) | static_cast<unsigned>(number);
}

std::string write_graphs(const System& system,
                         const std::vector<std::pair<int, const SearchGraph*>>& graphs) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("graphs");
  set(root, "version", "1");
  for (const auto& [id, graph] : graphs) {
    pugi::xml_node node = root.append_child("graph");
    set(node, "id", std::to_string(id));
    set(node, "pattern", std::to_string(graph->pattern));
    set(node, "crossnic", std::to_string(graph->cross_nic));
    set(node, "nchannels", std::to_string(graph->channels));
    set(node, "speedintra", fmt::format("{:g}", graph->bw_intra));
    set(node, "speedinter", fmt::format("{:g}", graph->bw_inter));
    set(node, "latencyinter", fmt::format("{:g}", graph->latency_inter));
    set(node, "typeintra", path_name(graph->type_intra));
    set(node, "typeinter", path_name(graph->type_inter));
    set(node, "samechannels", graph->same_channels ? "1" : "0");
    for (int c = 0; c < graph->channels; ++c) write_channel(node, system, *graph, c);
  }
  std::ostringstream out;
  document.save(out, "  ", pugi::format_indent | pugi::format_no_declaration);
  std::string text = out.str();
  // NCCL closes elements without the blank, and files are compared.
  for (std::size_t at = 0; (at = text.find(" />", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

Result<GraphFile> GraphFile::read(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  const auto refuse = [&](std::string what, std::string expected) {
    return fail("NCCL_GRAPH_FILE: " + std::move(what), std::move(expected), {}, {path});
  };
  pugi::xml_document document;
  const auto parsed = document.load_buffer(text->data(), text->size());
  const pugi::xml_node root = document.child("graphs");
  if (!parsed || !root) return refuse("is no graph file", "<graphs version=\"1\">");
  GraphFile file;
  file.path_ = path;
  for (const pugi::xml_node node : root.children("graph")) {
    auto graph = read_attributes(node);
    if (!graph) return refuse(graph.error().what, graph.error().expected);
    Entry& entry = file.entries_[node.attribute("id").as_int(-1)];
    entry = {std::move(*graph), {}};
    for (const pugi::xml_node channel : node.children("channel")) {
      if (entry.channels.size() == kMostChannels)
        return refuse("more channels than NCCL has", fmt::format("at most {}", kMostChannels));
      Channel& read = entry.channels.emplace_back();
      for (const pugi::xml_node device : channel.children()) {
        const std::uint64_t number =
            std::strtoull(device.attribute("dev").value(), nullptr, 16);  // 0 where it is no number
        if (device.name() == std::string_view("net")) read.nets.push_back(number);
        if (device.name() == std::string_view("gpu")) read.gpus.push_back(number);
      }
    }
  }
  return file;
}

Result<SearchGraph> GraphFile::graph(int id, const System& system) const {
  const auto entry = entries_.find(id);
  if (entry == entries_.end()) return SearchGraph{};
  SearchGraph graph = entry->second.graph;
  const int gpus = system.count(NodeType::gpu);
  const auto missing = [&](const char* kind, std::uint64_t number) {
    return fail(fmt::format("NCCL_GRAPH_FILE: channel import: {} {:x} not found", kind, number),
                "devices of this machine", {}, {path_});
  };
  for (const Channel& channel : entry->second.channels) {
    graph.make_room(gpus);
    std::vector<int>& order = graph.intra[graph.channels];
    order.clear();
    for (const std::uint64_t number : channel.gpus) {
      const int gpu = find_device(system, NodeType::gpu, number);
      if (gpu < 0) return missing("GPU", number);
      order.push_back(system.node(gpu).rank);
    }
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    const bool twice = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
    const bool heads = has_heads(graph.pattern);
    if (order.empty() || twice || (!heads && static_cast<int>(order.size()) != gpus))
      return fail(fmt::format("NCCL_GRAPH_FILE: channel {} of graph {} names {} GPUs",
                              graph.channels, id, order.size()),
                  fmt::format("each of the node's {} once", gpus), {}, {path_});
    std::vector<int> ports;
    for (const std::uint64_t number : channel.nets) {
      ports.push_back(find_device(system, NodeType::net, number));
      if (ports.back() < 0 && system.count(NodeType::net) > 0) return missing("network", number);
    }
    if (!ports.empty()) graph.inter[graph.channels] = {ports.front(), ports.back()};
    ++graph.channels;
  }
  return graph;
}

}  // namespace isleway::nccl
