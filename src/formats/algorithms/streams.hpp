// Puts an algorithm's streams together.
#pragma once

#include <map>
#include <tuple>
#include <utility>

#include "isleway/formats/algorithm.hpp"

namespace isleway::formats {

class StreamBuilder {
 public:
  int add_stream(int rank) {
    streams_.push_back({rank, {}, {}});
    return static_cast<int>(streams_.size()) - 1;
  }
  int rank_of(int stream) const { return streams_[static_cast<std::size_t>(stream)].rank; }

  AlgorithmStep& add(int stream, AlgorithmStep step) {
    ++steps_;
    return streams_[static_cast<std::size_t>(stream)].steps.emplace_back(std::move(step));
  }
  /// Half of a signal each: the other end must have the other half.
  void add_signal(int stream, std::vector<int> to, int line) {
    add(stream, {{}, {}, 0, 0, 1, {}, std::move(to), line});
  }
  void add_wait(int stream, std::vector<int> from, int line) {
    add(stream, {{}, {}, 0, 0, 1, std::move(from), {}, line});
  }

  /// At `rank`, for what `stream` does there on its own: one stream for each such pair, or
  /// several where more than one thing is done at once.
  int helper(int stream, int rank, int lane = 0) {
    const auto [found, is_new] = helpers_.try_emplace({stream, rank, lane}, 0);
    if (is_new) found->second = add_stream(rank);
    return found->second;
  }
  /// The stream asks a helper for chunks of `rank`'s memory, which its next step with data has to
  /// take as one more message. Returns the helper.
  int read(int stream, int rank, const AlgorithmStep& what, const AlgorithmPlace& from,
           int lane = 0) {
    const int reader = helper(stream, rank, lane);
    add_signal(stream, {reader}, what.line);
    AlgorithmStep step = what;
    step.source = from;
    step.store = {};
    step.recv = {};
    step.send = {stream};
    add_wait(reader, {stream}, what.line);
    add(reader, std::move(step));
    return reader;
  }

  /// Steps that any stream gets from now on, until the loop ends, are repeated together.
  void begin_loop() {
    loop_from_.clear();
    for (const AlgorithmStream& stream : streams_) loop_from_.push_back(stream.steps.size());
  }
  void end_loop(int chunks, std::int64_t unit_bytes) {
    for (std::size_t s = 0; s < streams_.size(); ++s) {
      const std::size_t first = s < loop_from_.size() ? loop_from_[s] : 0;
      const std::size_t count = streams_[s].steps.size() - first;
      if (count > 0) streams_[s].loops.push_back({first, count, chunks, unit_bytes});
    }
  }

  std::size_t steps() const { return steps_; }
  std::vector<AlgorithmStream> take() { return std::move(streams_); }

 private:
  std::vector<AlgorithmStream> streams_;
  std::map<std::tuple<int, int, int>, int> helpers_;
  std::vector<std::size_t> loop_from_;
  std::size_t steps_ = 0;
};

}  // namespace isleway::formats
