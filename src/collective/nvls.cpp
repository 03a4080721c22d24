// In-switch reduction (the switch reads an address at all ranks and adds) and multicast (it
// writes one value to all ranks), as NCCL's NVLS and NVLS tree use them.
#include <fmt/format.h>

#include "collective/arguments.hpp"
#include "collective/nvls_layout.hpp"
#include "collective/pipeline.hpp"
#include "isleway/collective/network_tree.hpp"

namespace isleway {
namespace {

using Role = NvlsRole;

class Nvls final : public Schedule {
 public:
  Nvls(const CollectiveCall& call, NvlsLayout layout, std::vector<TreeLinks> trees, int channels,
       const Chunking& chunking, bool registered)
      : layout_(std::move(layout)),
        trees_(std::move(trees)),
        reduces_(call.collective != Collective::all_gather),
        spreads_(call.collective != Collective::reduce_scatter),
        registered_(registered),
        block_(reduces_ && spreads_ ? 0 : shorter_buffer(call)),
        channels_(cut_channels(shorter_buffer(call), channels, block_ > 0 ? 1 : layout_.heads(),
                               chunking)) {}

  int ranks() const override { return layout_.ranks(); }
  int agents() const override { return layout_.agents(); }
  int streams() const override { return static_cast<int>(channels_.size()) * kNvlsRoles; }

  std::int64_t action_count(Port port) const override {
    const std::int64_t slices = channels_[NvlsLayout::channel_of(port)].loops.slices_in_all();
    const Role role = NvlsLayout::role_of(port);
    if (layout_.is_agent(port.agent))
      return (role == Role::up && reduces_) || (role == Role::down && spreads_) ? slices : 0;
    if (layout_.is_network(port.agent)) return role == Role::head_up ? slices : 0;
    const bool is_head = layout_.head_index(port.agent) >= 0;
    switch (role) {
      case Role::scatter: return reduces_ && !registered_ ? slices * layout_.heads() : 0;
      case Role::up: return reduces_ ? slices * layout_.heads() : 0;
      case Role::head_up: return is_head ? slices : 0;
      case Role::head_down: return is_head && !is_root(port) ? slices : 0;
      case Role::down: return spreads_ ? slices * layout_.heads() : 0;
      case Role::gather: return spreads_ && !registered_ ? slices * layout_.heads() : 0;
    }
    return 0;
  }

  void action(Port port, std::int64_t k, Action& out) const override {
    out.clear();
    const int c = NvlsLayout::channel_of(port);
    const Role role = NvlsLayout::role_of(port);
    const Loops& loops = channels_[c].loops;
    const bool is_agent = layout_.is_agent(port.agent);
    const bool serves_one = is_agent || role == Role::head_up || role == Role::head_down;
    const auto [loop, item] = loops.locate(k, serves_one ? 1 : layout_.heads());
    const std::int64_t slices = loops.slices(loop);
    // Ranks go through the heads, from another one in each channel, to use all alike.
    const int head = is_agent     ? layout_.head_of_agent(port.agent)
                     : serves_one ? layout_.head_index(port.agent)
                                  : static_cast<int>((item / slices + c) % layout_.heads());
    const Piece piece = loops.piece(loop, block_ > 0 ? 0 : head, item % slices);
    out.bytes = piece.bytes;
    if (is_agent) {
      add_agent_ports(port, head, out);
    } else if (role == Role::head_up || role == Role::head_down) {
      add_head_ports(port, head, out);
      const Region::Buffer buffer = !reduces_ ? Region::Buffer::input : Region::Buffer::output;
      if (!reduces_) out.source = {buffer, channels_[c].offset + piece.offset};
      if (!spreads_) out.store = {buffer, channels_[c].offset + piece.offset};
    } else {
      const std::int64_t block = block_ * layout_.head(0, head);
      add_rank_ports(port, head, block + channels_[c].offset + piece.offset, out);
    }
  }

  void loads(const std::function<void(const Load&)>& visit) const override;
  void alike_loads(const std::function<void(const Load&, int)>& visit) const override;
  std::vector<CriticalStep> critical_path() const override;

 private:
  void visit_channel(int channel, const std::function<void(const Load&)>& visit) const;
  /// Loads of a channel between the heads of islands.
  void visit_tree(int channel, const std::function<void(const Load&)>& visit) const;
  static std::int64_t shorter_buffer(const CollectiveCall& call) {
    return std::min(call.size.input_bytes(call.collective, call.ranks),
                    call.size.output_bytes(call.collective, call.ranks));
  }
  static Port port(int agent, int channel, Role role) {
    return NvlsLayout::port(agent, channel, role);
  }

  const TreeLinks& tree(int channel) const {
    return trees_[is_mirrored(channel, static_cast<int>(channels_.size())) ? 1 : 0];
  }
  /// Whether the port's rank is in the island at the root of its channel's tree.
  bool is_root(Port p) const {
    return layout_.island_of(p.agent) == tree(NvlsLayout::channel_of(p)).root();
  }
  /// The stream in which an island's heads pass the result on.
  Role turn(int channel, int island) const {
    return tree(channel).root() == island ? Role::head_up : Role::head_down;
  }

  void add_agent_ports(Port self, int head, Action& out) const {
    const int c = NvlsLayout::channel_of(self);
    const int island = layout_.island_of_agent(self.agent);
    const int rank = layout_.head(island, head);
    const bool pulls = NvlsLayout::role_of(self) == Role::up;
    for (const int member : layout_.members(island))
      (pulls ? out.recv : out.send).push_back({member, self.stream});
    if (pulls) out.send.push_back(port(rank, c, Role::head_up));
    else out.recv.push_back(port(rank, c, turn(c, island)));
  }

  void add_head_ports(Port self, int head, Action& out) const {
    const int c = NvlsLayout::channel_of(self);
    const int island = layout_.island_of(self.agent);
    const int agent = layout_.agent(island, head);
    const TreeLinks& links = tree(c);
    const bool goes_up = NvlsLayout::role_of(self) == Role::head_up;
    const bool has_switch = !layout_.is_network(self.agent);
    if (goes_up) {
      if (reduces_ && has_switch) out.recv.push_back(port(agent, c, Role::up));
      for (const int child : links.children(island))
        out.recv.push_back(port(layout_.head(child, head), c, Role::head_up));
      if (links.root() != island) {
        out.send.push_back(port(layout_.head(links.parent(island), head), c, Role::head_up));
        return;
      }
    } else {
      const int parent = links.parent(island);
      out.recv.push_back(port(layout_.head(parent, head), c, turn(c, parent)));
    }
    if (spreads_ && has_switch) out.send.push_back(port(agent, c, Role::down));
    for (const int child : links.children(island))
      out.send.push_back(port(layout_.head(child, head), c, Role::head_down));
  }

  void add_rank_ports(Port self, int head, std::int64_t at, Action& out) const {
    const int c = NvlsLayout::channel_of(self);
    const int rank = self.agent;
    const int agent = layout_.agent(layout_.island_of(rank), head);
    const Role role = NvlsLayout::role_of(self);
    const Region input{Region::Buffer::input, at}, output{Region::Buffer::output, at};
    switch (role) {
      case Role::scatter:
        out.source = input;
        out.send.push_back(port(rank, c, Role::up));
        break;
      case Role::up:
        if (registered_) out.source = input;
        else out.recv.push_back(port(rank, c, Role::scatter));
        out.send.push_back(port(agent, c, Role::up));
        break;
      case Role::down:
        out.recv.push_back(port(agent, c, Role::down));
        if (registered_) out.store = output;
        else out.send.push_back(port(rank, c, Role::gather));
        break;
      default:
        out.recv.push_back(port(rank, c, Role::down));
        out.store = output;
        break;
    }
  }

  NvlsLayout layout_;
  std::vector<TreeLinks> trees_;  ///< over islands, and the network: plain, mirrored
  bool reduces_, spreads_;
  bool registered_;
  std::int64_t block_;  ///< of one rank, in the larger buffer; 0 where heads share one buffer
  std::vector<Channel> channels_;
};

void Nvls::loads(const std::function<void(const Load&)>& visit) const {
  for (int c = 0; c < static_cast<int>(channels_.size()); ++c) visit_channel(c, visit);
}

void Nvls::alike_loads(const std::function<void(const Load&, int)>& visit) const {
  const auto is_alike = [&](int a, int b) {
    const Loops &x = channels_[a].loops, &y = channels_[b].loops;
    return &tree(a) == &tree(b) && x.share() == y.share() && x.slices_in_all() == y.slices_in_all();
  };
  const int channels = static_cast<int>(channels_.size());
  for (int c = 0, next = 0; c < channels; c = next) {
    while (next < channels && is_alike(c, next)) ++next;
    visit_channel(c, [&](const Load& load) { visit(load, next - c); });
  }
}

void Nvls::visit_channel(int c, const std::function<void(const Load&)>& visit) const {
  const Loops& loops = channels_[c].loops;
  const std::int64_t slices = loops.slices_in_all();
  if (slices == 0) return;
  const std::int64_t all = block_ > 0 ? loops.share() * layout_.heads() : loops.share();
  for (int island = 0; island < layout_.islands(); ++island) {
    for (const int rank : layout_.members(island)) {
      const std::int64_t messages = slices * layout_.heads();
      if (reduces_ && !registered_)
        visit({port(rank, c, Role::scatter), port(rank, c, Role::up), all, messages});
      if (spreads_ && !registered_)
        visit({port(rank, c, Role::down), port(rank, c, Role::gather), all, messages});
    }
    for (int h = 0; h < layout_.heads(); ++h) {
      const int agent = layout_.agent(island, h), head = layout_.head(island, h);
      const std::int64_t bytes = loops.part_bytes(block_ > 0 ? 0 : h);
      const auto carry = [&](Port from, Port to) { visit({from, to, bytes, slices}); };
      for (const int rank : layout_.members(island)) {
        if (reduces_) carry(port(rank, c, Role::up), port(agent, c, Role::up));
        if (spreads_) carry(port(agent, c, Role::down), port(rank, c, Role::down));
      }
      if (reduces_) carry(port(agent, c, Role::up), port(head, c, Role::head_up));
      if (spreads_) carry(port(head, c, turn(c, island)), port(agent, c, Role::down));
    }
  }
  visit_tree(c, visit);
}

void Nvls::visit_tree(int c, const std::function<void(const Load&)>& visit) const {
  const Loops& loops = channels_[c].loops;
  for (int island = 0; island < tree(c).members(); ++island)
    for (const int child : tree(c).children(island))
      for (int h = 0; h < layout_.heads(); ++h) {
        const int above = layout_.head(island, h), below = layout_.head(child, h);
        const std::int64_t bytes = loops.part_bytes(block_ > 0 ? 0 : h);
        const std::int64_t slices = loops.slices_in_all();
        visit({port(below, c, Role::head_up), port(above, c, Role::head_up), bytes, slices});
        visit({port(above, c, turn(c, island)), port(below, c, Role::head_down), bytes, slices});
      }
}

/// In the island farthest from the root, out of its first head and back.
std::vector<CriticalStep> Nvls::critical_path() const {
  const TreeLinks& links = tree(0);
  const std::vector<int> branch = links.longest_branch();
  const int island = branch.back();
  const int agent = layout_.agent(island, 0), rank = layout_.head(island, 0);
  std::vector<Leg> legs;
  if (reduces_) {
    if (!registered_) legs.push_back({port(rank, 0, Role::scatter), port(rank, 0, Role::up)});
    legs.push_back({port(rank, 0, Role::up), port(agent, 0, Role::up)});
    legs.push_back({port(agent, 0, Role::up), port(rank, 0, Role::head_up)});
  }
  const auto head = [&](std::size_t i) { return layout_.head(branch[i], 0); };
  for (std::size_t i = branch.size() - 1; i > 0; --i)
    legs.push_back({port(head(i), 0, Role::head_up), port(head(i - 1), 0, Role::head_up)});
  for (std::size_t i = 1; i < branch.size(); ++i)
    legs.push_back(
        {port(head(i - 1), 0, turn(0, branch[i - 1])), port(head(i), 0, Role::head_down)});
  // The busiest link is that of the ranks' reads or, without them, writes.
  std::size_t loaded = registered_ ? 0 : 1;
  if (spreads_) {
    legs.push_back({port(rank, 0, turn(0, island)), port(agent, 0, Role::down)});
    if (!reduces_) loaded = legs.size();
    legs.push_back({port(agent, 0, Role::down), port(rank, 0, Role::down)});
    if (!registered_) legs.push_back({port(rank, 0, Role::down), port(rank, 0, Role::gather)});
  }
  std::vector<CriticalStep> path = pipeline_path(legs, loaded, channels_[0].loops);
  // NCCL copies the pieces of all heads before it says that any is there. A step of many messages
  // has no counterpart in actions, so engines that run those see each piece go at once.
  if (!path.empty() && reduces_ && !registered_) path.front().bytes *= layout_.heads();
  return path;
}

}  // namespace

Result<std::unique_ptr<Schedule>> make_nvls(const CollectiveCall& call, int channels,
                                            std::vector<std::vector<int>> islands,
                                            int heads_per_island, const Chunking& chunking,
                                            bool registered) {
  if (auto ok = check_arguments(
          call, channels, chunking, "NVLS",
          {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter});
      !ok)
    return tl::unexpected(ok.error());
  if (call.collective != Collective::all_reduce &&
      (islands.size() > 1 || heads_per_island < call.ranks))
    return fail(fmt::format("NVLS {} with {} islands and {} heads", name_of(call.collective),
                            islands.size(), heads_per_island),
                "one island in which every rank is a head");
  auto layout = NvlsLayout::create(std::move(islands), call.ranks, heads_per_island);
  if (!layout) return tl::unexpected(layout.error());
  std::vector<TreeLinks> trees;
  for (const TreeShape& shape :
       {binary_tree(layout->islands()), mirrored_binary_tree(layout->islands())})
    trees.push_back(*TreeLinks::create(shape, layout->islands(), "the islands' tree"));
  return std::make_unique<Nvls>(call, std::move(*layout), std::move(trees), channels, chunking,
                                registered);
}

Result<std::unique_ptr<Schedule>> make_network_nvls(const CollectiveCall& call, int channels,
                                                    std::vector<std::vector<int>> islands,
                                                    int heads_per_island,
                                                    const Chunking& chunking) {
  if (auto ok = check_arguments(call, channels, chunking, "NVLS with reduction in the network",
                                {Collective::all_reduce});
      !ok)
    return tl::unexpected(ok.error());
  auto layout = NvlsLayout::create(std::move(islands), call.ranks, heads_per_island, true);
  if (!layout) return tl::unexpected(layout.error());
  TreeShape star;
  star.parent.assign(layout->islands() + 1, layout->islands());
  star.parent.back() = -1;
  const TreeLinks tree = *TreeLinks::create(star, layout->islands() + 1, "the islands' star");
  return std::make_unique<Nvls>(call, std::move(*layout), std::vector<TreeLinks>{tree, tree},
                                channels, chunking, false);
}

}  // namespace isleway
