// Reads an MSCCL++ execution plan (github.com/microsoft/mscclpp, docs/dsl): resolves the numbers
// by which threadblocks name channels and other ranks' buffers.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "formats/algorithms/algorithms.hpp"
#include "formats/algorithms/json_cursor.hpp"
#include "formats/algorithms/plan.hpp"

namespace isleway::formats {
namespace {

using Json = nlohmann::json;
constexpr int kMostEntries = 1 << 16;  // channels, buffers, threadblocks of one GPU

Result<PlanChannel> channel_of(const JsonCursor& at) {
  const std::string name = at.text("none");
  for (const auto& [known, which] : {std::pair{"memory", PlanChannel::memory},
                                     {"port", PlanChannel::port},
                                     {"switch", PlanChannel::multicast},
                                     {"none", PlanChannel::none}})
    if (name == known) return which;
  return at.wrong(fmt::format("is \"{}\"", name.substr(0, 40)), "memory, port, switch or none");
}

Result<AlgorithmPlace::Buffer> buffer_of(const JsonCursor& at) {
  using Buffer = AlgorithmPlace::Buffer;
  const std::string name = at.text();
  if (name == "i") return Buffer::input;
  if (name == "o") return Buffer::output;
  if (name == "s") return Buffer::scratch;
  return at.wrong(name.empty() ? "is missing" : fmt::format("is \"{}\"", name.substr(0, 40)),
                  "i, o or s");
}

/// One for each kind of channel; a threadblock has some of its GPU's.
template <class T>
using ByChannel = std::map<PlanChannel, std::vector<T>>;

struct RemoteBuffer {
  int rank = 0;
  AlgorithmPlace::Buffer buffer = AlgorithmPlace::Buffer::none;
};
struct Group {
  AlgorithmPlace::Buffer buffer = AlgorithmPlace::Buffer::none;
  const std::vector<int>* ranks = nullptr;
};
struct Gpu {
  ByChannel<PlanLink> links;
  std::vector<RemoteBuffer> remote;
  std::vector<Group> groups;
};
/// What a threadblock's numbers stand for.
struct Scope {
  int rank = 0;
  ByChannel<PlanLink> links;
  ByChannel<RemoteBuffer> remote;
  std::vector<Group> groups;
};

class PlanReader {
 public:
  PlanReader(const Json& json, const std::string& file) : root_(&json, "", file) {}

  Result<ExecutionPlan> read() {
    if (auto ok = read_heading(); !ok) return tl::unexpected(ok.error());
    const JsonCursor gpus = root_["gpus"];
    for (std::size_t g = 0; g < gpus.size(); ++g)
      if (auto ok = read_gpu(gpus.at(g), static_cast<int>(g)); !ok)
        return tl::unexpected(ok.error());
    if (auto ok = join_links(); !ok) return tl::unexpected(ok.error());
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      const JsonCursor blocks = gpus.at(g)["threadblocks"];
      if (blocks.size() > kMostEntries) return blocks.wrong("has too many entries");
      for (std::size_t b = 0; b < blocks.size(); ++b)
        if (auto ok = read_block(blocks.at(b), static_cast<int>(g)); !ok)
          return tl::unexpected(ok.error());
    }
    return std::move(plan_);
  }

 private:
  Result<void> read_heading() {
    Algorithm& head = plan_.head;
    const JsonCursor gpus = root_["gpus"];
    if (gpus.size() == 0) return gpus.wrong("is missing or empty", "a list of GPUs");
    if (gpus.size() > static_cast<std::size_t>(kMostAlgorithmRanks))
      return gpus.wrong("has too many entries", fmt::format("at most {}", kMostAlgorithmRanks));
    if (gpus.at(0)["inputChunks"].exists())
      return fail("is a plan of an MSCCL++ before its DSL named buffers (inputChunks, o_cids)",
                  "input_chunks, channel_ids, remote_buffers",
                  "compile the algorithm again with a present MSCCL++", gpus.where());
    head.format = "mscclpp-plan";
    head.name = root_["name"].text();
    head.collective = root_["collective"].text();
    head.protocol = root_["protocol"].text("Simple");
    head.in_place = root_["inplace"].flag(false);
    head.one_sided = true;
    head.ranks = static_cast<int>(gpus.size());
    const auto least = root_["min_message_size"].number(0, INT64_MAX, 0);
    const auto most = root_["max_message_size"].number(0, INT64_MAX, INT64_MAX);
    for (const auto* value : {&least, &most})
      if (!*value) return tl::unexpected(value->error());
    head.min_bytes = *least;
    head.max_bytes = *most;
    return {};
  }

  Result<void> read_gpu(const JsonCursor& at, int rank) {
    Algorithm& head = plan_.head;
    const auto id = at["id"].number(rank, rank);
    const auto input = at["input_chunks"].number(0, kMostAlgorithmChunks, 0);
    const auto output = at["output_chunks"].number(0, kMostAlgorithmChunks, 0);
    const auto scratch = at["scratch_chunks"].number(0, kMostAlgorithmChunks, 0);
    for (const auto* value : {&id, &input, &output, &scratch})
      if (!*value) return tl::unexpected(value->error());
    head.input_chunks = std::max(head.input_chunks, static_cast<int>(*input));
    head.output_chunks = std::max(head.output_chunks, static_cast<int>(*output));
    head.chunks = std::max({head.chunks, head.input_chunks, head.output_chunks});
    head.scratch_chunks.push_back(static_cast<int>(*scratch));
    head.channels = std::max(head.channels, static_cast<int>(at["threadblocks"].size()));
    gpus_.emplace_back();
    plan_.groups.emplace_back();
    if (auto ok = read_channels(at["channels"], rank); !ok) return ok;
    const JsonCursor remote = at["remote_buffers"];
    for (std::size_t i = 0; i < remote.size(); ++i) {
      const auto owner = remote.at(i)["rank"].number(0, head.ranks - 1);
      const auto buffer = buffer_of(remote.at(i)["type"]);
      if (!owner) return tl::unexpected(owner.error());
      if (!buffer) return tl::unexpected(buffer.error());
      gpus_.back().remote.push_back({static_cast<int>(*owner), *buffer});
    }
    const JsonCursor semaphores = at["semaphores"];
    auto& starts = plan_.semaphores.emplace_back();
    for (std::size_t i = 0; i < semaphores.size(); ++i) {
      const auto start = semaphores.at(i)["init_value"].number(0, 1 << 16, 0);
      if (!start) return tl::unexpected(start.error());
      starts.push_back(static_cast<int>(*start));
    }
    return {};
  }

  Result<void> read_channels(const JsonCursor& channels, int rank) {
    Gpu& gpu = gpus_.back();
    auto& groups = plan_.groups.back();
    std::vector<AlgorithmPlace::Buffer> buffers;
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const JsonCursor at = channels.at(c);
      const auto kind = channel_of(at["channel_type"]);
      if (!kind) return tl::unexpected(kind.error());
      if (*kind == PlanChannel::multicast) {
        const auto buffer = buffer_of(at["buffer_type"]);
        if (!buffer) return tl::unexpected(buffer.error());
        const JsonCursor listed = at["rank_groups"];
        for (std::size_t i = 0; i < listed.size(); ++i) {
          auto ranks = read_ranks(listed.at(i)["ranks"]);
          if (!ranks) return tl::unexpected(ranks.error());
          std::ranges::sort(*ranks);
          if (std::ranges::adjacent_find(*ranks) != ranks->end())
            return listed.at(i).wrong("names a rank twice");
          groups.push_back(*std::move(ranks));
          buffers.push_back(*buffer);
        }
        continue;
      }
      const auto peers = read_ranks(at["connected_to"]);
      if (!peers) return tl::unexpected(peers.error());
      for (const int peer : *peers) {
        if (peer == rank) return at.wrong("connects a GPU to itself");
        ends_.push_back({rank, peer, *kind});
        gpu.links[*kind].push_back(static_cast<int>(ends_.size()) - 1);
      }
    }
    for (std::size_t g = 0; g < groups.size(); ++g) gpu.groups.push_back({buffers[g], &groups[g]});
    return {};
  }

  Result<std::vector<int>> read_ranks(const JsonCursor& list) const {
    std::vector<int> ranks;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto rank = list.at(i).number(0, plan_.head.ranks - 1);
      if (!rank) return tl::unexpected(rank.error());
      ranks.push_back(static_cast<int>(*rank));
    }
    return ranks;
  }

  /// The k-th channel of a rank to another is the k-th of that one to it.
  Result<void> join_links() {
    std::map<std::tuple<PlanChannel, int, int>, std::vector<int>> ends;
    for (std::size_t e = 0; e < ends_.size(); ++e)
      ends[{ends_[e].kind, ends_[e].from, ends_[e].to}].push_back(static_cast<int>(e));
    link_of_end_.assign(ends_.size(), -1);
    for (const auto& [key, here] : ends) {
      const auto& [kind, from, to] = key;
      if (from > to && ends.contains({kind, to, from})) continue;  // joined from there
      const auto there = ends.find({kind, to, from});
      const std::size_t far = there == ends.end() ? 0 : there->second.size();
      for (std::size_t k = 0; k < std::max(here.size(), far); ++k) {
        const auto link = static_cast<int>(plan_.links.size());
        plan_.links.emplace_back(from, to);
        if (k < here.size()) link_of_end_[static_cast<std::size_t>(here[k])] = link;
        if (k < far) link_of_end_[static_cast<std::size_t>(there->second[k])] = link;
      }
    }
    return {};
  }

  Result<void> read_block(const JsonCursor& at, int rank) {
    const Gpu& gpu = gpus_[static_cast<std::size_t>(rank)];
    Scope scope;
    scope.rank = rank;
    const JsonCursor channels = at["channels"];
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const JsonCursor one = channels.at(c);
      const auto kind = channel_of(one["channel_type"]);
      if (!kind) return tl::unexpected(kind.error());
      const JsonCursor ids = one["channel_ids"];
      const auto links = gpu.links.find(*kind);
      const std::size_t known = *kind == PlanChannel::multicast ? gpu.groups.size()
                                : links == gpu.links.end()      ? 0
                                                                : links->second.size();
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto id = ids.at(i).number(0, static_cast<std::int64_t>(known) - 1);
        if (!id) return tl::unexpected(id.error());
        const auto place = static_cast<std::size_t>(*id);
        if (*kind == PlanChannel::multicast) scope.groups.push_back(gpu.groups[place]);
        else
          scope.links[*kind].push_back(
              link_of_end_[static_cast<std::size_t>(links->second[place])]);
      }
    }
    const JsonCursor remote = at["remote_buffer_refs"];
    for (std::size_t r = 0; r < remote.size(); ++r) {
      const auto kind = channel_of(remote.at(r)["access_channel_type"]);
      if (!kind) return tl::unexpected(kind.error());
      const JsonCursor ids = remote.at(r)["remote_buffer_ids"];
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto id = ids.at(i).number(0, static_cast<std::int64_t>(gpu.remote.size()) - 1);
        if (!id) return tl::unexpected(id.error());
        scope.remote[*kind].push_back(gpu.remote[static_cast<std::size_t>(*id)]);
      }
    }
    PlanThreadblock block{rank, {}};
    if (auto ok = read_operations(at["ops"], scope, block.operations, false); !ok) return ok;
    plan_.threadblocks.push_back(std::move(block));
    return {};
  }

  Result<void> read_operations(const JsonCursor& list, const Scope& scope,
                               std::vector<PlanOperation>& out, bool inside) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const JsonCursor at = list.at(i);
      if (++operations_ > kMostAlgorithmSteps) return at.wrong("is one operation too many");
      PlanOperation operation;
      operation.way = at.way();
      operation.name = at["name"].text();
      if (operation.name == "nop") continue;
      if (auto ok = read_operation(at, scope, operation); !ok) return ok;
      if (operation.name == "pipeline") {
        if (inside) return at.wrong("is a pipeline inside another");
        const JsonCursor context = at["iter_context"];
        const auto chunks = context["num_chunks"].number(1, kMostAlgorithmChunks);
        const auto unit = context["unit_size"].number(16, std::int64_t{1} << 40);
        for (const auto* value : {&chunks, &unit})
          if (!*value) return tl::unexpected(value->error());
        operation.loop_chunks = static_cast<int>(*chunks);
        operation.unit_bytes = *unit / 16 * 16;
        if (auto ok = read_operations(at["ops"], scope, operation.inner, true); !ok) return ok;
      }
      out.push_back(std::move(operation));
    }
    return {};
  }

  Result<void> read_operation(const JsonCursor& at, const Scope& scope, PlanOperation& out) {
    const auto kind = channel_of(at["channel_type"]);
    if (!kind) return tl::unexpected(kind.error());
    out.channel = *kind;
    const auto links = scope.links.find(*kind);
    const JsonCursor ids = at["channel_ids"];
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto known = links == scope.links.end() ? 0 : links->second.size();
      const auto id = ids.at(i).number(0, static_cast<std::int64_t>(known) - 1);
      if (!id) return tl::unexpected(id.error());
      out.links.push_back(links->second[static_cast<std::size_t>(*id)]);
    }
    const auto barrier = at["barrier_id"].number(0, kMostEntries, 0);
    const auto parts = at["tbg_info"]["tbg_size"].number(1, kMostEntries, 1);
    if (!parts) return tl::unexpected(parts.error());
    const auto part = at["tbg_info"]["tb_id"].number(0, *parts - 1, 0);
    for (const auto* value : {&barrier, &part})
      if (!*value) return tl::unexpected(value->error());
    out.barrier = static_cast<int>(*barrier);
    out.part = static_cast<int>(*part);
    out.parts = static_cast<int>(*parts);
    const JsonCursor semaphores = at["semaphore_ids"];
    for (std::size_t i = 0; i < semaphores.size(); ++i) {
      const auto& starts = plan_.semaphores[static_cast<std::size_t>(scope.rank)];
      const auto id = semaphores.at(i).number(0, static_cast<std::int64_t>(starts.size()) - 1);
      if (!id) return tl::unexpected(id.error());
      out.semaphores.push_back(static_cast<int>(*id));
    }
    for (const auto& [name, list] :
         {std::pair{"src_buff", &out.sources}, {"dst_buff", &out.targets}}) {
      const JsonCursor buffers = at[name];
      for (std::size_t i = 0; i < buffers.size(); ++i) {
        auto buffer = read_buffer(buffers.at(i), scope, *kind);
        if (!buffer) return tl::unexpected(buffer.error());
        list->push_back(*buffer);
      }
    }
    return {};
  }

  Result<PlanBuffer> read_buffer(const JsonCursor& at, const Scope& scope, PlanChannel kind) const {
    const auto index = at["index"].number(0, kMostAlgorithmChunks);
    const auto size = at["size"].number(1, kMostAlgorithmChunks);
    for (const auto* value : {&index, &size})
      if (!*value) return tl::unexpected(value->error());
    PlanBuffer out;
    out.place.chunk = static_cast<int>(*index);
    out.chunks = static_cast<int>(*size);
    if (at["switch_channel_id"].exists()) {
      const auto id =
          at["switch_channel_id"].number(0, static_cast<std::int64_t>(scope.groups.size()) - 1);
      if (!id) return tl::unexpected(id.error());
      const Group& group = scope.groups[static_cast<std::size_t>(*id)];
      out.rank = PlanBuffer::kGroup;
      out.group = group.ranks;
      out.place.buffer = group.buffer;
      return out;
    }
    if (at["buffer_id"].exists()) {
      const auto remote = scope.remote.find(kind);
      const std::size_t known = remote == scope.remote.end() ? 0 : remote->second.size();
      const auto id = at["buffer_id"].number(0, static_cast<std::int64_t>(known) - 1);
      if (!id) return tl::unexpected(id.error());
      out.rank = remote->second[static_cast<std::size_t>(*id)].rank;
      out.place.buffer = remote->second[static_cast<std::size_t>(*id)].buffer;
      return out;
    }
    const auto buffer = buffer_of(at["type"]);
    if (!buffer) return tl::unexpected(buffer.error());
    out.rank = scope.rank;
    out.place.buffer = *buffer;
    return out;
  }

  struct End {
    int from, to;
    PlanChannel kind;
  };

  JsonCursor root_;
  ExecutionPlan plan_;
  std::vector<Gpu> gpus_;
  std::vector<End> ends_;
  std::vector<PlanLink> link_of_end_;
  std::size_t operations_ = 0;
};

}  // namespace

Result<ExecutionPlan> parse_plan(std::string_view text, const std::string& file) {
  try {
    const Json json = Json::parse(text);
    return PlanReader(json, file).read();
  } catch (const Json::parse_error& error) {
    const auto before = text.substr(0, std::min(error.byte, text.size()));
    const auto line = static_cast<int>(std::ranges::count(before, '\n')) + 1;
    return fail("is damaged here, or ends too early", "well-formed JSON", "copy the file again",
                {file, line});
  }
}

}  // namespace isleway::formats
