#include "isleway/collective/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "collective/program_path.hpp"
#include "isleway/collective/checker.hpp"
#include "isleway/core/text.hpp"

namespace isleway {
namespace {

using formats::Algorithm;
using formats::AlgorithmLoop;
using formats::AlgorithmPlace;
using formats::AlgorithmStep;
using formats::AlgorithmStream;

constexpr std::int64_t kWord = 16;
constexpr std::size_t kMostActions = 1'000'000, kMostStreams = 1'000'000;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 42;  // times chunks it fits into 64 bits
constexpr std::int64_t kMostWordsToProve = std::int64_t{1} << 23;
constexpr std::uint64_t kOrdersToProve = 4;
constexpr int kCreditsToProve = 4;

/// The bytes of `whole` that are part `part` of `parts`, which differ by a word at most.
struct Cut {
  std::int64_t offset, bytes;
};
Cut cut(std::int64_t whole, int part, int parts) {
  const std::int64_t words = whole / kWord, each = words / parts, more = words % parts;
  const auto from = [&](std::int64_t p) { return (p * each + std::min(p, more)) * kWord; };
  return {from(part), from(part + 1) - from(part)};
}

class Program final : public Schedule {
 public:
  Program(const Algorithm& algorithm, const CollectiveCall& call, std::int64_t slot)
      : ranks_(call.ranks),
        input_(Region::Buffer::input),
        output_(Region::Buffer::output),
        chunk_(call.size.bytes / algorithm.chunks),
        slot_(algorithm.one_sided ? std::max(chunk_, kWord) : slot / kWord * kWord),
        rounds_((chunk_ + slot_ - 1) / slot_),
        together_(algorithm.one_sided ? INT_MAX : static_cast<int>(slot_ / chunk_)) {
    for (const int chunks : algorithm.scratch_chunks) scratch_.push_back(chunks * chunk_);
    // In place the two are one, of which a rank that is not the root has the one or the other.
    if (algorithm.in_place && call.collective == Collective::broadcast) input_ = output_;
    if (algorithm.in_place && call.collective == Collective::reduce) output_ = input_;
  }

  Result<void> add(const Algorithm& algorithm) {
    std::vector<int> count(static_cast<std::size_t>(ranks_) + 1, 0);
    std::vector<Port> ports;
    for (const AlgorithmStream& stream : algorithm.streams) {
      const int agent = stream.rank == AlgorithmStream::kSwitch ? ranks_ : stream.rank;
      ports.push_back({agent, count[static_cast<std::size_t>(agent)]++});
    }
    streams_ = std::max(1, *std::ranges::max_element(count));
    agents_ = ranks_ + (count.back() > 0 ? 1 : 0);
    if (static_cast<std::size_t>(agents_) * static_cast<std::size_t>(streams_) > kMostStreams)
      return fail(fmt::format("{} has more threadblocks than can be held", algorithm.name),
                  fmt::format("at most {} on all GPUs, with what answers to them", kMostStreams),
                  {}, {algorithm.file});
    actions_.resize(static_cast<std::size_t>(agents_) * static_cast<std::size_t>(streams_));
    for (std::size_t s = 0; s < ports.size(); ++s)
      if (auto ok = add(algorithm, algorithm.streams[s], ports[s], ports); !ok) return ok;
    path_ = longest_path(
        *this, [this](Port port) { return static_cast<std::int64_t>(list(port).size()); });
    return {};
  }

  /// Error: a step outside the user's or its own memory.
  Result<void> check(const CollectiveCall& call, const std::string& file) const {
    const std::int64_t in = call.size.input_bytes(call.collective, call.ranks);
    const std::int64_t out = call.size.output_bytes(call.collective, call.ranks);
    for (std::int32_t agent = 0; agent < ranks_; ++agent)
      for (std::int32_t stream = 0; stream < streams_; ++stream)
        for (const Planned& planned : list({agent, stream}))
          for (const Region* region : {&planned.action.source, &planned.action.store}) {
            std::int64_t size = INT64_MAX;
            if (region->buffer == Region::Buffer::input) size = in;
            if (region->buffer == Region::Buffer::output) size = out;
            if (region->buffer == Region::Buffer::scratch)
              size = scratch_[static_cast<std::size_t>(agent)];
            const std::int64_t end = region->offset + planned.span;
            if (end > size)
              return fail(fmt::format("GPU {}: a step reaches chunk {} of memory that has {}",
                                      agent, (end + chunk_ - 1) / chunk_ - 1, size / chunk_),
                          {}, {}, {file, planned.line});
          }
    return {};
  }

  int ranks() const override { return ranks_; }
  int agents() const override { return agents_; }
  int streams() const override { return streams_; }
  std::int64_t scratch_bytes(int rank) const override {
    return scratch_[static_cast<std::size_t>(rank)];
  }
  bool reuses_buffers() const override { return true; }

  std::int64_t action_count(Port port) const override {
    return static_cast<std::int64_t>(list(port).size()) * rounds_;
  }

  void action(Port port, std::int64_t k, Action& out) const override {
    const std::vector<Planned>& all = list(port);
    const auto each = static_cast<std::int64_t>(all.size());
    out = all[static_cast<std::size_t>(k % each)].action;
    if (rounds_ == 1 || out.bytes == 0) return;
    const std::int64_t offset = k / each * slot_;
    out.bytes = std::min(slot_, chunk_ - offset);
    out.source.offset += offset;
    out.store.offset += offset;
  }

  Loop loop(Port port) const override {
    const std::int64_t full = chunk_ / slot_;
    return full > 1 ? Loop{0, static_cast<std::int64_t>(list(port).size()), full} : Loop{};
  }

  std::vector<CriticalStep> critical_path() const override { return path_; }

 private:
  /// What one round does, on the first slot of each chunk.
  struct Planned {
    Action action;
    std::int64_t span = 0;  ///< bytes that all rounds together cover
    int line = 0;
  };

  const std::vector<Planned>& list(Port port) const {
    return actions_[static_cast<std::size_t>(port.agent) * static_cast<std::size_t>(streams_) +
                    static_cast<std::size_t>(port.stream)];
  }

  Result<void> add(const Algorithm& algorithm, const AlgorithmStream& stream, Port port,
                   const std::vector<Port>& ports) {
    auto& into =
        actions_[static_cast<std::size_t>(port.agent) * static_cast<std::size_t>(streams_) +
                 static_cast<std::size_t>(port.stream)];
    auto loop = stream.loops.begin();
    for (std::size_t s = 0; s < stream.steps.size();) {
      if (loop == stream.loops.end() || s < loop->first) {
        add(stream.steps[s], nullptr, 0, ports, into);
        ++s;
        continue;
      }
      const std::int64_t times = std::max<std::int64_t>(
          1, (loop->chunks * chunk_ + loop->unit_bytes - 1) / loop->unit_bytes);
      for (std::int64_t i = 0; i < times; ++i) {
        for (std::size_t inner = 0; inner < loop->count; ++inner)
          add(stream.steps[s + inner], &*loop, i, ports, into);
        if (into.size() > kMostActions) break;
      }
      s += loop->count;
      ++loop;
    }
    total_ += into.size();
    if (total_ > kMostActions)
      return fail(fmt::format("{} has more steps at this size than can be held", algorithm.name),
                  fmt::format("at most {}", kMostActions), "a smaller size");
    return {};
  }

  /// As one message, or as several where a slot does not hold all chunks.
  void add(const AlgorithmStep& step, const AlgorithmLoop* loop, std::int64_t turn,
           const std::vector<Port>& ports, std::vector<Planned>& into) {
    for (int first = 0; first == 0 || first < step.chunks;) {
      const int chunks = std::min(std::max(1, together_), step.chunks - first);
      std::int64_t offset = 0, bytes = chunks * chunk_;
      if (loop != nullptr) {
        // Counted over the loop's chunks; a step on fewer of them is over sooner.
        offset = std::min(turn * loop->unit_bytes, bytes);
        bytes = std::min(loop->unit_bytes, bytes - offset);
      }
      const Cut part = cut(bytes, step.part, step.parts);
      Planned planned;
      planned.line = step.line;
      planned.span = part.bytes;
      planned.action.bytes = rounds_ > 1 ? std::min(slot_, part.bytes) : part.bytes;
      planned.action.source = region(step.source, first, offset + part.offset);
      planned.action.store = region(step.store, first, offset + part.offset);
      for (const int from : step.recv) planned.action.recv.push_back(ports[at(from)]);
      for (const int to : step.send) planned.action.send.push_back(ports[at(to)]);
      into.push_back(std::move(planned));
      if (step.chunks == 0) return;
      first += chunks;
    }
  }

  static std::size_t at(int stream) { return static_cast<std::size_t>(stream); }

  Region region(const AlgorithmPlace& place, int first, std::int64_t offset) const {
    using Buffer = AlgorithmPlace::Buffer;
    const std::int64_t at = (place.chunk + std::int64_t{first}) * chunk_ + offset;
    switch (place.buffer) {
      case Buffer::input: return {input_, at};
      case Buffer::output: return {output_, at};
      case Buffer::scratch: return {Region::Buffer::scratch, at};
      case Buffer::none: break;
    }
    return {};
  }

  int ranks_, agents_ = 0, streams_ = 1;
  Region::Buffer input_, output_;  ///< what the file's names stand for
  std::int64_t chunk_, slot_, rounds_;
  int together_;  ///< chunks in a message; 0: less than one
  std::vector<std::int64_t> scratch_;
  std::vector<std::vector<Planned>> actions_;  ///< by agent and stream
  std::size_t total_ = 0;
  std::vector<CriticalStep> path_;
};

}  // namespace

Result<Collective> collective_of(const Algorithm& algorithm) {
  std::string name;
  for (const char c : to_lower(algorithm.collective))
    if (c != '_' && c != '-') name += c;
  for (int i = 0; i < kCollectiveCount; ++i) {
    std::string known = name_of(static_cast<Collective>(i));
    std::erase(known, '_');
    if (name == known) return static_cast<Collective>(i);
  }
  return fail(algorithm.collective.empty() ? std::string("does not say which collective it is")
                                           : fmt::format("does a collective called \"{}\"",
                                                         algorithm.collective.substr(0, 40)),
              "allreduce, allgather, reducescatter, broadcast, reduce or alltoall");
}

std::int64_t program_size(const Algorithm& algorithm, std::int64_t bytes) {
  const std::int64_t unit = algorithm.chunks * kWord;
  return bytes / unit * unit;
}

Result<std::unique_ptr<Schedule>> make_program(const Algorithm& algorithm,
                                               const CollectiveCall& call,
                                               std::int64_t slot_bytes) {
  if (call.ranks != algorithm.ranks)
    return fail(fmt::format("{} is for {} GPUs", algorithm.name, algorithm.ranks),
                fmt::format("the {} of the machine", call.ranks),
                fmt::format("--ranks {}", algorithm.ranks), {algorithm.file});
  if (call.size.bytes <= 0 || call.size.bytes != program_size(algorithm, call.size.bytes))
    return fail(
        fmt::format("{} bytes do not divide into {} chunks", call.size.bytes, algorithm.chunks),
        "whole 16-byte words for each chunk");
  auto program =
      std::make_unique<Program>(algorithm, call, std::max<std::int64_t>(kWord, slot_bytes));
  return program->add(algorithm)
      .and_then([&] { return program->check(call, algorithm.file); })
      .map([&]() -> std::unique_ptr<Schedule> { return std::move(program); });
}

Result<void> prove_program(const Algorithm& algorithm) {
  const auto collective = collective_of(algorithm);
  if (!collective) return tl::unexpected(collective.error());
  // Two words a chunk, of which a slot holds one: so that there are two rounds.
  CollectiveCall call{*collective, {2 * kWord * algorithm.chunks, kWord}, algorithm.ranks};
  const std::int64_t chunks = *std::ranges::max_element(algorithm.scratch_chunks);
  if ((chunks + 2 * algorithm.chunks) * algorithm.ranks > kMostWordsToProve) return {};
  const auto program = make_program(algorithm, call, kWord);
  if (!program) return tl::unexpected(program.error());
  for (std::uint64_t order = 0; order < kOrdersToProve; ++order)
    if (auto ok = check_schedule(call, **program, algorithm.in_place, kCreditsToProve, order);
        !ok) {
      Error error = ok.error();
      error.what =
          fmt::format("{} does not do {}: {}", algorithm.name, name_of(*collective), error.what);
      error.where = {algorithm.file};
      return tl::unexpected(error);
    }
  return {};
}

}  // namespace isleway
