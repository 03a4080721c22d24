#include "isleway/collective/checker.hpp"

#include <fmt/format.h>

#include "isleway/collective/executor.hpp"

namespace isleway {
namespace {

using Word = std::uint64_t;

/// Element `index` of a rank's input: a word that looks like no other.
Word input_word(int rank, std::int64_t index) {
  Word x = (static_cast<Word>(rank) << 40) + static_cast<Word>(index) + 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;  // splitmix64
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

void add_words(std::span<std::byte> into, std::span<const std::byte> from) {
  auto* a = reinterpret_cast<Word*>(into.data());
  const auto* b = reinterpret_cast<const Word*>(from.data());
  for (std::size_t i = 0; i < into.size() / sizeof(Word); ++i) a[i] += b[i];
}

/// What a collective takes from and leaves in each rank's memory.
class Meaning {
 public:
  explicit Meaning(const CollectiveCall& call)
      : call_(call),
        input_(call.size.input_bytes(call.collective, call.ranks) / call.size.element_bytes),
        output_(call.size.output_bytes(call.collective, call.ranks) / call.size.element_bytes) {
    if (!reduces()) return;
    sums_.resize(input_);
    for (int r = 0; r < call.ranks; ++r)
      for (std::int64_t i = 0; i < input_; ++i) sums_[i] += input_word(r, i);
  }

  bool reduces() const {
    return call_.collective == Collective::all_reduce || call_.collective == Collective::reduce ||
           call_.collective == Collective::reduce_scatter;
  }

  std::int64_t input_words(int rank) const {
    const bool from_root =
        call_.collective == Collective::broadcast || call_.collective == Collective::scatter;
    return from_root && rank != call_.root ? 0 : input_;
  }
  std::int64_t output_words(int rank) const {
    const bool to_root =
        call_.collective == Collective::reduce || call_.collective == Collective::gather;
    return to_root && rank != call_.root ? 0 : output_;
  }

  /// Where, in the memory of an in-place call, input and output begin.
  struct InPlace {
    std::int64_t input, output;
  };
  InPlace in_place(int rank) const {
    switch (call_.collective) {
      case Collective::all_gather: return {rank * input_, 0};
      case Collective::gather: return {rank == call_.root ? rank * input_ : 0, 0};
      case Collective::reduce_scatter: return {0, rank * output_};
      case Collective::scatter: return {0, rank == call_.root ? rank * output_ : 0};
      default: return {0, 0};
    }
  }

  /// The input words, `from` to `to`'s element, that element i of a rank's output is made of.
  struct Source {
    int rank;  ///< -1: the sum of all ranks
    std::int64_t index;
  };
  Source source(int rank, std::int64_t i) const {
    const int owner = static_cast<int>(output_ > 0 && input_ > 0 ? i / block() : 0);
    switch (call_.collective) {
      case Collective::all_reduce:
      case Collective::reduce: return {-1, i};
      case Collective::reduce_scatter: return {-1, rank * output_ + i};
      case Collective::all_gather:
      case Collective::gather: return {owner, i % block()};
      case Collective::broadcast: return {call_.root, i};
      case Collective::all_to_all: return {owner, rank * block() + i % block()};
      case Collective::scatter: return {call_.root, rank * output_ + i};
      case Collective::sendrecv: return {(rank + call_.ranks - 1) % call_.ranks, i};
    }
    return {-1, i};
  }
  Word expected(const Source& s) const {
    return s.rank < 0 ? sums_[s.index] : input_word(s.rank, s.index);
  }

  /// What is wrong with a word, as far as one can tell.
  std::string diagnosis(const Source& s, Word found) const {
    if (s.rank >= 0) return fmt::format("should be rank {}'s input element {}", s.rank, s.index);
    const Word difference = found - expected(s);
    for (int r = 0; r < call_.ranks; ++r) {
      const Word part = input_word(r, s.index);
      if (difference == part) return fmt::format("has rank {}'s contribution twice", r);
      if (difference == Word{0} - part) return fmt::format("lacks rank {}'s contribution", r);
    }
    return "is not the sum over all ranks";
  }

 private:
  std::int64_t block() const {
    return call_.collective == Collective::all_to_all ? output_ / call_.ranks : input_;
  }

  const CollectiveCall& call_;
  std::int64_t input_, output_;
  std::vector<Word> sums_;
};

/// The ranks' memory, filled, and what was stored where.
class World {
 public:
  World(const CollectiveCall& call, const Meaning& meaning, const Schedule& schedule, bool in_place)
      : meaning_(meaning), reused_(schedule.reuses_buffers()) {
    for (int r = 0; r < call.ranks; ++r) {
      const std::int64_t in = meaning.input_words(r), out = meaning.output_words(r);
      const auto [in_at, out_at] = in_place ? meaning.in_place(r) : Meaning::InPlace{0, in};
      const std::int64_t user = std::max(in_at + in, out_at + out);
      const std::int64_t scratch = schedule.scratch_bytes(r) / call.size.element_bytes;
      auto& memory = memory_.emplace_back(user + scratch, Word{0});
      for (std::int64_t i = 0; i < in; ++i) memory[in_at + i] = input_word(r, i);
      const auto bytes = std::as_writable_bytes(std::span(memory));
      const auto input = bytes.subspan(in_at * sizeof(Word), in * sizeof(Word));
      buffers_.push_back({input, bytes.subspan(out_at * sizeof(Word), out * sizeof(Word)),
                          bytes.subspan(user * sizeof(Word), scratch * sizeof(Word)),
                          reused_ ? input : std::span<std::byte>{}});
      written_.emplace_back(out);
    }
  }

  std::span<const RankBuffers> buffers() const { return buffers_; }

  Result<void> note_store(const Schedule& schedule, Port by, std::int64_t first,
                          std::span<const std::byte> value) {
    const auto* words = reinterpret_cast<const Word*>(value.data());
    for (std::size_t i = 0; i < value.size() / sizeof(Word); ++i) {
      if (written_[by.agent][first + i] && output(by.agent)[first + i] != words[i])
        return fail(
            fmt::format("{} stores another value where rank {}'s output element {} was "
                        "stored before",
                        port_text(schedule, by), by.agent, first + i));
      written_[by.agent][first + i] = true;
    }
    return {};
  }

  Result<void> verify() const {
    for (int r = 0; r < static_cast<int>(buffers_.size()); ++r) {
      for (std::int64_t i = 0; i < meaning_.output_words(r); ++i) {
        const Meaning::Source source = meaning_.source(r, i);
        if (!written_[r][i] && !reused_)
          return fail(fmt::format("rank {} never stores output element {}", r, i));
        if (output(r)[i] != meaning_.expected(source))
          return fail(fmt::format("rank {}'s output element {} {}", r, i,
                                  meaning_.diagnosis(source, output(r)[i])));
      }
    }
    return {};
  }

 private:
  const Word* output(int rank) const {
    return reinterpret_cast<const Word*>(buffers_[rank].output.data());
  }

  const Meaning& meaning_;
  std::vector<std::vector<Word>> memory_;
  std::vector<RankBuffers> buffers_;
  std::vector<std::vector<bool>> written_;
  bool reused_;  ///< what is stored need not be the result: only the end counts
};

}  // namespace

Result<void> check_schedule(const CollectiveCall& call, const Schedule& schedule, bool in_place,
                            int credits, std::uint64_t order) {
  if (schedule.ranks() != call.ranks)
    return fail(fmt::format("a schedule for {} ranks", schedule.ranks()),
                fmt::format("the {} ranks of the call", call.ranks));
  if (in_place &&
      (call.collective == Collective::all_to_all || call.collective == Collective::sendrecv))
    return fail(fmt::format("{} cannot be done in place", name_of(call.collective)));
  const Meaning meaning(call);
  World world(call, meaning, schedule, in_place);
  ExecutorOptions options;
  options.credits = credits;
  options.element_bytes = call.size.element_bytes;
  options.stored_bytes = sizeof(Word);
  options.order = order;
  if (!schedule.reuses_buffers())
    options.on_store = [&](Port by, Region where, std::span<const std::byte> value) {
      return where.buffer == Region::Buffer::output
                 ? world.note_store(schedule, by, where.offset / call.size.element_bytes, value)
                 : Result<void>();
    };
  if (auto ok = execute_schedule(schedule, world.buffers(), add_words, options); !ok) return ok;
  return world.verify();
}

}  // namespace isleway
