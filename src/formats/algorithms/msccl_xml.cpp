// MSCCL's XML, as msccl-tools and others write it (github.com/microsoft/msccl,
// src/include/msccl): threadblocks with one peer to send to and one to receive from.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/algorithms/algorithms.hpp"
#include "formats/algorithms/streams.hpp"
#include "formats/xml_text.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr int kMostThreadblocks = 1024;

/// What a type of step does, apart from where.
struct StepKind {
  const char* name;
  bool receives, sends, reads, stores;
  bool adds_target;  ///< reduces what lies at the target, too
};
constexpr std::array<StepKind, 9> kKinds = {{{"s", false, true, true, false, false},
                                             {"r", true, false, false, true, false},
                                             {"rcs", true, true, false, true, false},
                                             {"rrs", true, true, true, false, false},
                                             {"rrc", true, false, true, true, false},
                                             {"rrcs", true, true, true, true, false},
                                             {"cpy", false, false, true, true, false},
                                             {"re", false, false, true, true, true},
                                             {"nop", false, false, false, false, false}}};

struct Dependency {
  int block = -1, step = -1;
};

struct Step {
  const StepKind* kind = nullptr;
  AlgorithmPlace source, target;
  int count = 0, line = 0;
  Dependency after;
  std::vector<int> waits;  ///< streams, each of which has sent a signal
  std::vector<int> tells;  ///< streams that wait for this step
};

struct Block {
  int rank = 0, id = 0, send = -1, recv = -1, channel = 0, stream = -1, line = 0;
  std::vector<Step> steps;
};

class MscclReader {
 public:
  MscclReader(const XmlText& xml, std::string file) : xml_(xml), file_(std::move(file)) {}

  Result<Algorithm> read() {
    return read_heading()
        .and_then([&] { return read_gpus(); })
        .and_then([&] { return connect(); })
        .and_then([&] { return find_dependencies(); })
        .map([&] {
          emit();
          return std::move(result_);
        });
  }

 private:
  tl::unexpected<Error> wrong(pugi::xml_node node, std::string what,
                              std::string expected = {}) const {
    return wrong(xml_.line(node), std::move(what), std::move(expected));
  }
  tl::unexpected<Error> wrong(int line, std::string what, std::string expected = {}) const {
    return fail(std::move(what), std::move(expected), {}, {file_, line});
  }

  Result<int> number(pugi::xml_node node, const char* name, int least, int most,
                     std::optional<int> missing = {}) const {
    const std::string_view text = trim(node.attribute(name).value());
    if (text.empty() && missing) return *missing;
    const auto value = parse_int(text);
    if (value && *value >= least && *value <= most) return static_cast<int>(*value);
    return wrong(node,
                 text.empty() ? fmt::format("<{}> lacks {}", node.name(), name)
                              : fmt::format("<{}> has {}={}", node.name(), name, cite(text)),
                 fmt::format("{} to {}", least, most));
  }

  Result<void> read_heading() {
    const pugi::xml_node root = xml_.root();
    result_.format = "msccl-xml";
    result_.name = root.attribute("name").value();
    result_.collective = root.attribute("coll").value();
    result_.protocol = root.attribute("proto").value();
    if (result_.protocol.empty()) result_.protocol = "Simple";
    const auto ranks = number(root, "ngpus", 1, kMostAlgorithmRanks, 0);
    const auto chunks = number(root, "nchunksperloop", 1, kMostAlgorithmChunks);
    const auto channels = number(root, "nchannels", 1, kMostThreadblocks, 1);
    const auto in_place = number(root, "inplace", 0, 1, 0);
    for (const auto* value : {&ranks, &chunks, &channels, &in_place})
      if (!*value) return tl::unexpected(value->error());
    result_.ranks = *ranks;
    result_.chunks = *chunks;
    result_.channels = *channels;
    result_.in_place = *in_place > 0;
    if (const auto least = parse_int(trim(root.attribute("minBytes").value())))
      result_.min_bytes = std::max<std::int64_t>(0, *least);
    if (const auto most = parse_int(trim(root.attribute("maxBytes").value())); most && *most > 0)
      result_.max_bytes = *most;
    return {};
  }

  Result<void> read_gpus() {
    std::vector<pugi::xml_node> gpus;
    for (const pugi::xml_node node : xml_.root().children("gpu")) gpus.push_back(node);
    // Old files leave the count out.
    if (result_.ranks == 0) result_.ranks = static_cast<int>(gpus.size());
    if (gpus.empty() || static_cast<int>(gpus.size()) != result_.ranks)
      return wrong(xml_.root(), fmt::format("has {} <gpu>", gpus.size()),
                   fmt::format("one for each of {} GPUs", std::max(1, result_.ranks)));
    result_.scratch_chunks.assign(gpus.size(), -1);
    for (const pugi::xml_node gpu : gpus) {
      const auto id = number(gpu, "id", 0, result_.ranks - 1);
      const auto input = number(gpu, "i_chunks", 0, kMostAlgorithmChunks, 0);
      const auto output = number(gpu, "o_chunks", 0, kMostAlgorithmChunks, 0);
      const auto scratch = number(gpu, "s_chunks", 0, kMostAlgorithmChunks, 0);
      for (const auto* value : {&id, &input, &output, &scratch})
        if (!*value) return tl::unexpected(value->error());
      int& known = result_.scratch_chunks[static_cast<std::size_t>(*id)];
      if (known >= 0) return wrong(gpu, fmt::format("a second <gpu> of id {}", *id));
      known = *scratch;
      result_.input_chunks = std::max(result_.input_chunks, *input);
      result_.output_chunks = std::max(result_.output_chunks, *output);
      for (const pugi::xml_node block : gpu.children("tb"))
        if (auto ok = read_block(block, *id); !ok) return ok;
    }
    return {};
  }

  Result<void> read_block(pugi::xml_node node, int rank) {
    Block block;
    block.rank = rank;
    block.line = xml_.line(node);
    const auto id = number(node, "id", 0, kMostThreadblocks - 1);
    const auto send = number(node, "send", -1, result_.ranks - 1, -1);
    const auto recv = number(node, "recv", -1, result_.ranks - 1, -1);
    const auto channel = number(node, "chan", 0, kMostThreadblocks, 0);
    for (const auto* value : {&id, &send, &recv, &channel})
      if (!*value) return tl::unexpected(value->error());
    block.id = *id;
    block.send = *send;
    block.recv = *recv;
    block.channel = *channel;
    block.stream = builder_.add_stream(rank);
    if (*send == rank || *recv == rank)
      return wrong(node, "a threadblock whose peer is its own GPU");
    if (!block_at_.try_emplace({rank, block.id}, blocks_.size()).second)
      return wrong(node, fmt::format("a second <tb> of id {} in GPU {}", block.id, rank));
    for (const pugi::xml_node step : node.children("step"))
      if (auto ok = read_step(step, block); !ok) return ok;
    blocks_.push_back(std::move(block));
    return {};
  }

  Result<void> read_step(pugi::xml_node node, Block& block) {
    if (++steps_ > kMostAlgorithmSteps)
      return wrong(node, "more steps than can be held",
                   fmt::format("at most {}", kMostAlgorithmSteps));
    Step step;
    step.line = xml_.line(node);
    const std::string_view type = trim(node.attribute("type").value());
    const auto kind =
        std::ranges::find_if(kKinds, [&](const StepKind& k) { return type == k.name; });
    if (kind == kKinds.end())
      return wrong(node, "a step of type " + cite(type),
                   "s, r, rcs, rrs, rrc, rrcs, cpy, re or nop");
    step.kind = &*kind;
    if (kind->receives && block.recv < 0)
      return wrong(node, "a step that receives, in a threadblock that receives from nobody");
    if (kind->sends && block.send < 0)
      return wrong(node, "a step that sends, in a threadblock that sends to nobody");
    const auto count = number(node, "cnt", 0, kMostAlgorithmChunks, 1);
    const auto dependency = number(node, "depid", -1, kMostThreadblocks - 1, -1);
    const auto dependency_step = number(node, "deps", -1, INT32_MAX, -1);
    const auto source = kind->reads ? place(node, "srcbuf", "srcoff") : AlgorithmPlace{};
    const auto target = kind->stores ? place(node, "dstbuf", "dstoff") : AlgorithmPlace{};
    for (const auto* value : {&count, &dependency, &dependency_step})
      if (!*value) return tl::unexpected(value->error());
    for (const auto* where : {&source, &target})
      if (!*where) return tl::unexpected(where->error());
    step.count = *count;
    step.source = *source;
    step.target = *target;
    if (*dependency >= 0 && *dependency_step >= 0) step.after = {*dependency, *dependency_step};
    block.steps.push_back(std::move(step));
    return {};
  }

  Result<AlgorithmPlace> place(pugi::xml_node node, const char* buffer, const char* offset) const {
    using Buffer = AlgorithmPlace::Buffer;
    const auto chunk = number(node, offset, 0, kMostAlgorithmChunks);
    if (!chunk) return tl::unexpected(chunk.error());
    const std::string_view name = trim(node.attribute(buffer).value());
    for (const auto& [letter, which] :
         {std::pair{"i", Buffer::input}, {"o", Buffer::output}, {"s", Buffer::scratch}})
      if (name == letter) return AlgorithmPlace{which, *chunk};
    return wrong(node, fmt::format("{}={}", buffer, cite(name)), "i, o or s");
  }

  /// A connection is known by its ends and its channel.
  Result<void> connect() {
    std::map<std::tuple<int, int, int>, int> senders, receivers;
    for (const Block& block : blocks_) {
      const auto take = [&](auto& known, int from, int to) {
        return known.try_emplace({from, to, block.channel}, block.stream).second;
      };
      if ((block.send >= 0 && !take(senders, block.rank, block.send)) ||
          (block.recv >= 0 && !take(receivers, block.recv, block.rank)))
        return wrong(block.line, fmt::format("two threadblocks of GPU {} have the same peer on "
                                             "channel {}",
                                             block.rank, block.channel));
    }
    peers_.resize(blocks_.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const Block& block = blocks_[b];
      const auto find = [&](const auto& known, int from, int to, bool used, int& peer) {
        const auto found = known.find({from, to, block.channel});
        if (found != known.end()) peer = found->second;
        return found != known.end() || !used;
      };
      const auto uses = [&](auto what) {
        return std::ranges::any_of(block.steps, [&](const Step& s) { return s.kind->*what; });
      };
      if (!find(receivers, block.rank, block.send, uses(&StepKind::sends), peers_[b].send))
        return wrong(block.line, fmt::format("GPU {} sends to GPU {} on channel {}, where no "
                                             "threadblock receives",
                                             block.rank, block.send, block.channel));
      if (!find(senders, block.recv, block.rank, uses(&StepKind::receives), peers_[b].recv))
        return wrong(block.line, fmt::format("GPU {} receives from GPU {} on channel {}, where no "
                                             "threadblock sends",
                                             block.rank, block.recv, block.channel));
    }
    return {};
  }

  /// A step that waits for another threadblock's step waits for all before that one, too: so
  /// what was waited for once need not be waited for again.
  Result<void> find_dependencies() {
    for (Block& block : blocks_) {
      std::map<int, int> waited;  // by threadblock: up to which step
      for (Step& step : block.steps) {
        const Dependency after = step.after;
        if (after.block < 0 || after.block == block.id) continue;
        const auto found = block_at_.find({block.rank, after.block});
        if (found == block_at_.end() ||
            after.step >= static_cast<int>(blocks_[found->second].steps.size()))
          return wrong(step.line, fmt::format("waits for step {} of threadblock {}, which GPU {} "
                                              "does not have",
                                              after.step, after.block, block.rank));
        int& until = waited.try_emplace(after.block, -1).first->second;
        if (after.step <= until) continue;
        until = after.step;
        Block& other = blocks_[found->second];
        other.steps[static_cast<std::size_t>(after.step)].tells.push_back(block.stream);
        step.waits.push_back(other.stream);
      }
    }
    return {};
  }

  void emit() {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const Block& block = blocks_[b];
      for (const Step& step : block.steps) {
        for (const int from : step.waits) builder_.add_wait(block.stream, {from}, step.line);
        if (step.count > 0) emit(block, peers_[b], step);
        for (const int to : step.tells) builder_.add_signal(block.stream, {to}, step.line);
      }
    }
    result_.streams = builder_.take();
  }

  struct Peers {
    int send = -1, recv = -1;
  };
  void emit(const Block& block, Peers peers, const Step& step) {
    const StepKind& kind = *step.kind;
    if (!kind.reads && !kind.stores) return;
    AlgorithmStep out;
    out.source = step.source;
    out.store = step.target;
    out.chunks = step.count;
    out.line = step.line;
    if (kind.adds_target)
      out.recv.push_back(builder_.read(block.stream, block.rank, out, step.target));
    if (kind.receives) out.recv.push_back(peers.recv);
    if (kind.sends) out.send.push_back(peers.send);
    builder_.add(block.stream, std::move(out));
  }

  const XmlText& xml_;
  std::string file_;
  Algorithm result_;
  StreamBuilder builder_;
  std::vector<Block> blocks_;
  std::vector<Peers> peers_;                             ///< by block: streams at the other ends
  std::map<std::pair<int, int>, std::size_t> block_at_;  ///< by rank and id
  std::size_t steps_ = 0;
};

}  // namespace

Result<Algorithm> read_msccl_xml(std::string_view text, const std::string& file) {
  Notebook notes(file);
  const auto xml = XmlText::parse(text, "algo", notes);
  if (!xml) return tl::unexpected(xml.error());
  // Half of an algorithm is none.
  for (const Notice& notice : notes.notices())
    if (notice.kind == Notice::Kind::incomplete)
      return fail("ends in the middle of the algorithm", "</algo> at its end",
                  "copy the file again", notice.where);
  return MscclReader(*xml, file).read();
}

}  // namespace isleway::formats
