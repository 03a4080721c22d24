#include "isleway/collective/executor.hpp"

#include <fmt/format.h>

#include <cassert>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <unordered_map>
#include <utility>

#include "collective/executor_inputs.hpp"

namespace isleway {
namespace {

/// Not cleared: every byte is written before it is read.
class Memory {
 public:
  explicit Memory(std::size_t size) : bytes_(new std::byte[size]), size_(size) {}
  operator std::span<std::byte>() { return {bytes_.get(), size_}; }
  operator std::span<const std::byte>() const { return {bytes_.get(), size_}; }
  std::size_t size() const { return size_; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_;
};
/// A multicast sends one message to many, and who passes a message on sends the same.
using Message = std::shared_ptr<Memory>;

/// Memory that messages have left behind, for the next ones: most are of one size, and memory that
/// goes back to the system costs more than what is done with it.
class Spare {
 public:
  Message take(std::size_t size) {
    for (std::size_t i = kept_.size(); i-- > 0;)
      if (kept_[i].use_count() == 1 && kept_[i]->size() == size) return kept_[i];
    auto made = std::make_shared<Memory>(size);
    if (kept_.size() < kMost) kept_.push_back(made);
    else kept_[next_++ % kMost] = made;
    return made;
  }

 private:
  static constexpr std::size_t kMost = 64;
  std::vector<Message> kept_;
  std::size_t next_ = 0;
};

/// Streams that may go on, those of one number (a channel) as long as there are any: what they pass
/// to one another then stays in the processor's caches.
class Ready {
 public:
  explicit Ready(std::size_t channels) : channels_(channels) {}
  bool empty() const { return count_ == 0; }
  void push(std::size_t channel, std::size_t stream) {
    channels_[channel].push_back(stream);
    ++count_;
  }
  /// The oldest of the channel that is being worked on, or a random one.
  std::size_t take(std::mt19937_64* random) {
    if (random != nullptr) current_ = (*random)() % channels_.size();
    while (channels_[current_].empty()) current_ = (current_ + 1) % channels_.size();
    auto& streams = channels_[current_];
    if (random != nullptr) std::swap(streams.front(), streams[(*random)() % streams.size()]);
    const std::size_t stream = streams.front();
    streams.pop_front();
    --count_;
    return stream;
  }

 private:
  std::vector<std::deque<std::size_t>> channels_;
  std::size_t current_ = 0, count_ = 0;
};

struct Stream {
  std::int64_t next = 0, count = 0;
  Action action;  ///< number `next`, once `loaded`
  bool loaded = false;
  bool queued = false;
};

const char* name_of(Region::Buffer buffer) {
  switch (buffer) {
    case Region::Buffer::input: return "an input";
    case Region::Buffer::output: return "an output";
    case Region::Buffer::scratch: return "scratch memory";
    default: return "no memory";
  }
}

/// Why a stream cannot go on.
struct Wait {
  Port other;
  bool for_space = false;  ///< at `other`; else for a message from it
};

class Executor {
 public:
  Executor(const Schedule& schedule, std::span<const RankBuffers> buffers, const Reduction& reduce,
           const ExecutorOptions& options, const InputSource& input = {})
      : schedule_(schedule),
        buffers_(buffers),
        reduce_(reduce),
        options_(options),
        input_(input),
        stored_(options.stored_bytes > 0 ? options.stored_bytes : options.element_bytes),
        random_(options.order),
        ready_(static_cast<std::size_t>(schedule.streams())) {}

  Result<void> run() {
    streams_.resize(static_cast<std::size_t>(schedule_.agents()) * schedule_.streams());
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      streams_[i].count = schedule_.action_count(port(i));
      wake(i);
    }
    while (!ready_.empty())
      if (auto ok = advance(take_ready()); !ok) return ok;
    if (auto ok = check_all_ended(); !ok) return ok;
    return check_nothing_left();
  }

 private:
  Port port(std::size_t index) const {
    return {static_cast<std::int32_t>(index / schedule_.streams()),
            static_cast<std::int32_t>(index % schedule_.streams())};
  }
  std::size_t index(Port p) const {
    return static_cast<std::size_t>(p.agent) * schedule_.streams() + p.stream;
  }
  bool exists(Port p) const {
    return p.agent >= 0 && p.agent < schedule_.agents() && p.stream >= 0 &&
           p.stream < schedule_.streams();
  }
  std::deque<Message>& fifo(Port from, Port to) {
    return fifos_[index(from) * streams_.size() + index(to)];
  }

  void wake(std::size_t i) {
    if (streams_[i].queued || streams_[i].next == streams_[i].count) return;
    streams_[i].queued = true;
    ready_.push(static_cast<std::size_t>(port(i).stream), i);
  }
  std::size_t take_ready() {
    const std::size_t i = ready_.take(options_.order != 0 ? &random_ : nullptr);
    streams_[i].queued = false;
    return i;
  }

  /// Does a stream's next action if nothing is missing for it.
  Result<void> advance(std::size_t i) {
    Stream& stream = streams_[i];
    const Port self = port(i);
    if (!stream.loaded) {
      schedule_.action(self, stream.next, stream.action);
      if (auto ok = check_action(self, stream.action); !ok) return ok;
      stream.loaded = true;
    }
    if (waits_for(self, stream.action)) return {};
    if (auto ok = perform(self, stream.action); !ok) return ok;
    ++stream.next;
    stream.loaded = false;
    wake(i);
    return {};
  }

  std::optional<Wait> waits_for(Port self, const Action& action) {
    for (const Port from : action.recv)
      if (fifo(from, self).empty()) return Wait{from, false};
    for (const Port to : action.send)
      // A signal takes no room in a buffer.
      if (action.bytes > 0 && static_cast<int>(fifo(self, to).size()) >= options_.credits)
        return Wait{to, true};
    return std::nullopt;
  }

  Result<void> perform(Port self, const Action& action) {
    if (auto ok = check_sizes(self, action); !ok) return ok;
    const Message value = combined(self, action);
    if (action.store.buffer != Region::Buffer::none) {
      const std::span<const std::byte> bytes = std::as_const(*value);
      if (options_.on_store)
        if (auto ok = options_.on_store(self, action.store, bytes); !ok) return ok;
      std::copy(bytes.begin(), bytes.end(),
                writable(self, action.store).begin() +
                    static_cast<std::ptrdiff_t>(stored(action.store.offset)));
    }
    for (const Port to : action.send) {
      fifo(self, to).push_back(value);
      wake(index(to));
    }
    return {};
  }

  /// What was received and the local source, reduced; the messages are taken.
  Message combined(Port self, const Action& action) {
    const bool has_source = action.source.buffer != Region::Buffer::none;
    const auto take = [&](Port from) {
      auto& messages = fifo(from, self);
      Message message = std::move(messages.front());
      messages.pop_front();
      wake(index(from));
      return message;
    };
    if (!has_source && action.recv.size() == 1) return take(action.recv[0]);
    const Message value = spare_.take(stored(action.bytes));
    const std::span<std::byte> bytes = *value;
    bool filled = false;
    const auto combine = [&](std::span<const std::byte> from) {
      if (filled) reduce_(bytes, from);
      else std::copy(from.begin(), from.end(), bytes.begin());
      filled = true;
    };
    if (has_source) {
      const std::size_t at = stored(action.source.offset);
      filled = input_ && action.source.buffer == Region::Buffer::input &&
               input_(self.agent, static_cast<std::int64_t>(at), bytes);
      if (!filled) combine(memory(self, action.source).subspan(at, bytes.size()));
    }
    for (const Port from : action.recv) combine(std::as_const(*take(from)));
    return value;
  }

  /// Of the messages that wait for an action, and that it has anything to handle.
  Result<void> check_sizes(Port self, const Action& action) {
    for (const Port from : action.recv) {
      const std::int64_t bytes = unstored(fifo(from, self).front()->size());
      if (bytes != action.bytes)
        return failure(self, fmt::format("receives {} bytes from {}, but handles {}", bytes,
                                         port_text(schedule_, from), action.bytes));
    }
    if (action.bytes > 0 && action.recv.empty() && action.source.buffer == Region::Buffer::none)
      return failure(self, "has bytes from nowhere");
    return {};
  }

  Result<void> check_action(Port self, const Action& action) const {
    if (action.bytes < 0 || action.bytes % options_.element_bytes != 0)
      return failure(self, fmt::format("handles {} bytes, not whole elements of {}", action.bytes,
                                       options_.element_bytes));
    for (const auto* ports : {&action.recv, &action.send}) {
      for (std::size_t i = 0; i < ports->size(); ++i) {
        const Port other = (*ports)[i];
        if (!exists(other) || other == self)
          return failure(self, fmt::format("names the port {}.{}", other.agent, other.stream));
        for (std::size_t j = 0; j < i; ++j)
          if ((*ports)[j] == other)
            return failure(self, "names " + port_text(schedule_, other) + " twice");
      }
    }
    for (const auto& [region, verb] :
         {std::pair{&action.source, "reads"}, std::pair{&action.store, "stores"}}) {
      if (region->buffer == Region::Buffer::none) continue;
      if (self.agent >= schedule_.ranks())
        return failure(self, fmt::format("{} memory, which only ranks have", verb));
      if (region == &action.store && region->buffer == Region::Buffer::input &&
          buffers_[self.agent].spare_input.empty() && action.bytes > 0)
        return failure(self, "stores into the input");
      const std::int64_t size = unstored(memory(self, *region).size());
      if (region->offset < 0 || region->offset % options_.element_bytes != 0 ||
          action.bytes > size || region->offset > size - action.bytes)
        return failure(self, fmt::format("{} {} bytes at {} of {} of {} bytes", verb, action.bytes,
                                         region->offset, name_of(region->buffer), size));
    }
    return {};
  }

  Result<void> check_all_ended() {
    std::size_t stuck = 0;
    while (stuck < streams_.size() && streams_[stuck].next == streams_[stuck].count) ++stuck;
    if (stuck == streams_.size()) return {};
    // Each stuck stream waits for another: following that ends in a ring, or at one that
    // has nothing left to do.
    std::string story;
    std::vector<bool> told(streams_.size());
    for (std::size_t i = stuck; !told[i];) {
      told[i] = true;
      const Stream& stream = streams_[i];
      if (stream.next == stream.count) {
        story += "\n  " + port_text(schedule_, port(i)) + " has ended";
        break;
      }
      const auto wait = waits_for(port(i), stream.action);
      assert(wait);
      story += fmt::format("\n  {} waits in action {} for a {} {}", port_text(schedule_, port(i)),
                           stream.next, wait->for_space ? "free slot at" : "message from",
                           port_text(schedule_, wait->other));
      i = index(wait->other);
    }
    return fail("the schedule waits for ever:" + story);
  }

  Result<void> check_nothing_left() const {
    // The least connection, so that the message does not depend on the hash table's order.
    std::size_t first = SIZE_MAX;
    for (const auto& [key, messages] : fifos_)
      if (!messages.empty()) first = std::min(first, key);
    if (first == SIZE_MAX) return {};
    return fail(fmt::format(
        "{} takes {} messages too few from {}", port_text(schedule_, port(first % streams_.size())),
        fifos_.at(first).size(), port_text(schedule_, port(first / streams_.size()))));
  }

  tl::unexpected<Error> failure(Port self, const std::string& what) const {
    return fail(fmt::format("action {} of {} {}", streams_[index(self)].next,
                            port_text(schedule_, self), what));
  }

  std::span<const std::byte> memory(Port self, const Region& region) const {
    const RankBuffers& rank = buffers_[self.agent];
    if (region.buffer == Region::Buffer::scratch) return rank.scratch;
    return region.buffer == Region::Buffer::input ? rank.input : rank.output;
  }
  std::span<std::byte> writable(Port self, const Region& region) const {
    const RankBuffers& rank = buffers_[self.agent];
    if (region.buffer == Region::Buffer::scratch) return rank.scratch;
    return region.buffer == Region::Buffer::input ? rank.spare_input : rank.output;
  }
  std::size_t stored(std::int64_t bytes) const { return bytes / options_.element_bytes * stored_; }
  std::int64_t unstored(std::size_t size) const {
    return static_cast<std::int64_t>(size) / stored_ * options_.element_bytes;
  }

  const Schedule& schedule_;
  std::span<const RankBuffers> buffers_;
  const Reduction& reduce_;
  const ExecutorOptions& options_;
  InputSource input_;
  const int stored_;
  std::mt19937_64 random_;
  std::vector<Stream> streams_;
  std::unordered_map<std::size_t, std::deque<Message>> fifos_;
  Ready ready_;
  Spare spare_;
};

}  // namespace

Result<void> execute_schedule(const Schedule& schedule, std::span<const RankBuffers> buffers,
                              const Reduction& reduce, const ExecutorOptions& options) {
  assert(static_cast<int>(buffers.size()) == schedule.ranks());
  assert(options.credits > 0 && options.element_bytes > 0);
  return Executor(schedule, buffers, reduce, options).run();
}

Result<void> execute_schedule_from(const InputSource& input, const Schedule& schedule,
                                   std::span<const RankBuffers> buffers, const Reduction& reduce,
                                   const ExecutorOptions& options) {
  assert(options.credits > 0 && options.element_bytes > 0);
  return Executor(schedule, buffers, reduce, options, input).run();
}

}  // namespace isleway
