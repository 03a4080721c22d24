#include "plan/pipeline_run.hpp"

#include <algorithm>
#include <limits>
#include <queue>

namespace isleway::plan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

enum class Pass : unsigned char { forward, backward, weights };

struct Step {
  Pass pass = Pass::forward;
  int chunk = 0;  ///< of the rank
  std::int64_t micro_batch = 0;
};

/// The order in which a rank works where the schedule fixes it (1F1B, interleaved): some
/// forwards first, then one of each in turn. Micro-batches go in rounds of `ranks`, each
/// round through all chunks.
class FixedOrder {
 public:
  FixedOrder(const Pipeline& pipeline, int rank)
      : ranks_(pipeline.ranks),
        chunks_(pipeline.virtual_stages),
        micro_batches_(pipeline.micro_batches) {
    const std::int64_t behind = ranks_ - rank - 1;
    const std::int64_t first = chunks_ == 1 ? behind : 2 * behind + (chunks_ - 1) * ranks_;
    first_ = std::min(first, total());
  }
  std::int64_t total() const { return micro_batches_ * chunks_; }
  std::int64_t steps() const { return 2 * total(); }

  Step step(std::int64_t k) const {
    if (k < first_) return nth(Pass::forward, k);
    const std::int64_t paired = 2 * (total() - first_);
    if (k < first_ + paired) {
      const std::int64_t i = k - first_;
      return i % 2 == 0 ? nth(Pass::forward, first_ + i / 2) : nth(Pass::backward, i / 2);
    }
    return nth(Pass::backward, k - total());
  }

 private:
  Step nth(Pass pass, std::int64_t k) const {
    const std::int64_t round = k / (ranks_ * chunks_);
    const std::int64_t width = std::min(ranks_, micro_batches_ - round * ranks_);
    const std::int64_t i = k - round * ranks_ * chunks_;
    const auto chunk = static_cast<int>(i / width);
    return {pass, pass == Pass::forward ? chunk : static_cast<int>(chunks_) - 1 - chunk,
            round * ranks_ + i % width};
  }
  std::int64_t ranks_, chunks_, micro_batches_, first_;
};

/// One rank: what it has done, and when its inputs arrive.
struct Rank {
  double free = 0;
  std::int64_t next = 0;                          ///< in a fixed order
  std::vector<std::int64_t> forwards, backwards;  ///< done, by chunk (or direction)
  std::vector<std::int64_t> weights;              ///< still to do, by chunk
  double last = 0;
};

class Run {
 public:
  explicit Run(const Pipeline& pipeline);
  double go();

 private:
  bool mirrored() const { return pipeline_.schedule == Schedule::dual_pipe; }
  bool fixed() const {
    return pipeline_.schedule == Schedule::one_f_one_b ||
           pipeline_.schedule == Schedule::interleaved;
  }
  /// Depth of a rank's chunk along its direction.
  std::size_t stage(int rank, int chunk) const {
    if (mirrored() && chunk == 1) return static_cast<std::size_t>(pipeline_.ranks - 1 - rank);
    return static_cast<std::size_t>(chunk * (mirrored() ? 0 : pipeline_.ranks) + rank);
  }
  /// The rank that holds depth `stage` of the direction of `chunk`.
  int rank_of(std::size_t stage, int chunk) const {
    const int rank = static_cast<int>(stage) % pipeline_.ranks;
    return mirrored() && chunk == 1 ? pipeline_.ranks - 1 - rank : rank;
  }
  int chunk_of(std::size_t stage, int chunk) const {
    return mirrored() ? chunk : static_cast<int>(stage) / pipeline_.ranks;
  }
  std::int64_t micro_batches(int chunk) const {
    if (!mirrored()) return pipeline_.micro_batches;
    return (pipeline_.micro_batches + 1 - chunk) / 2;
  }
  double& arrival(Pass pass, std::size_t stage, int chunk, std::int64_t micro_batch);
  bool work(int rank);
  bool all_done() const;
  bool next_fixed(int rank, Step& step);
  bool next_greedy(int rank, Step& step);
  void execute(int rank, const Step& step);
  void send(Pass pass, std::size_t stage, int chunk, std::int64_t micro_batch, double when);

  const Pipeline& pipeline_;
  std::size_t depth_;
  int chunks_;
  std::vector<Rank> ranks_;
  std::vector<FixedOrder> orders_;
  std::vector<double> forward_, backward_;  ///< arrivals, by direction, depth, micro-batch
  struct Wake {
    double time;
    int rank;
    bool operator>(const Wake& other) const {
      return time != other.time ? time > other.time : rank > other.rank;
    }
  };
  std::priority_queue<Wake, std::vector<Wake>, std::greater<>> wakes_;
};

Run::Run(const Pipeline& pipeline)
    : pipeline_(pipeline),
      depth_(pipeline.stages.size()),
      chunks_(mirrored() ? 2 : pipeline.virtual_stages) {
  const auto chunks = static_cast<std::size_t>(chunks_);
  Rank empty;
  empty.forwards.resize(chunks);
  empty.backwards.resize(chunks);
  empty.weights.resize(chunks);
  ranks_.assign(static_cast<std::size_t>(pipeline.ranks), empty);
  const std::size_t all =
      (mirrored() ? 2 : 1) * depth_ * static_cast<std::size_t>(pipeline.micro_batches);
  forward_.assign(all, kNever);
  backward_.assign(all, kNever);
  for (int rank = 0; rank < pipeline.ranks; ++rank) {
    if (fixed()) orders_.emplace_back(pipeline, rank);
    wakes_.push({0, rank});
  }
  for (int direction = 0; direction < (mirrored() ? 2 : 1); ++direction)
    for (std::int64_t m = 0; m < micro_batches(direction); ++m)
      arrival(Pass::forward, 0, direction, m) = 0;
}

double& Run::arrival(Pass pass, std::size_t stage, int chunk, std::int64_t micro_batch) {
  const std::size_t direction = mirrored() ? static_cast<std::size_t>(chunk) : 0;
  auto& all = pass == Pass::forward ? forward_ : backward_;
  return all[(direction * depth_ + stage) * static_cast<std::size_t>(pipeline_.micro_batches) +
             static_cast<std::size_t>(micro_batch)];
}

void Run::send(Pass pass, std::size_t stage, int chunk, std::int64_t micro_batch, double when) {
  arrival(pass, stage, chunk, micro_batch) = when;
  const int rank = rank_of(stage, chunk);
  wakes_.push({std::max(when, ranks_[static_cast<std::size_t>(rank)].free), rank});
}

bool Run::next_fixed(int rank, Step& step) {
  Rank& state = ranks_[static_cast<std::size_t>(rank)];
  const FixedOrder& order = orders_[static_cast<std::size_t>(rank)];
  if (state.next == order.steps()) return false;
  step = order.step(state.next);
  if (arrival(step.pass, stage(rank, step.chunk), step.chunk, step.micro_batch) > state.free)
    return false;
  ++state.next;
  return true;
}

/// Backwards before forwards before weights, so that nothing waits that could go on. As many
/// forwards of a direction are under way as 1F1B keeps at that depth; were it more, the two
/// directions of DualPipe could wait for one another for ever.
bool Run::next_greedy(int rank, Step& step) {
  Rank& state = ranks_[static_cast<std::size_t>(rank)];
  const auto full = [&](int chunk) {
    const auto i = static_cast<std::size_t>(chunk);
    return state.forwards[i] - state.backwards[i] >=
           pipeline_.ranks - static_cast<std::int64_t>(stage(rank, chunk));
  };
  const auto ready = [&](Pass pass, int chunk, std::int64_t done) {
    return done < micro_batches(chunk) &&
           arrival(pass, stage(rank, chunk), chunk, done) <= state.free;
  };
  for (int chunk = 0; chunk < chunks_; ++chunk) {
    const std::int64_t done = state.backwards[static_cast<std::size_t>(chunk)];
    if (!ready(Pass::backward, chunk, done)) continue;
    step = {Pass::backward, chunk, done};
    return true;
  }
  for (int i = 0; i < chunks_; ++i) {
    // The direction that is behind goes first.
    const int chunk = chunks_ == 2 && state.forwards[0] > state.forwards[1] ? 1 - i : i;
    const std::int64_t done = state.forwards[static_cast<std::size_t>(chunk)];
    if (full(chunk) || !ready(Pass::forward, chunk, done)) continue;
    step = {Pass::forward, chunk, done};
    return true;
  }
  for (int chunk = 0; chunk < chunks_; ++chunk) {
    if (state.weights[static_cast<std::size_t>(chunk)] == 0) continue;
    step = {Pass::weights, chunk, 0};
    return true;
  }
  return false;
}

void Run::execute(int rank, const Step& step) {
  Rank& state = ranks_[static_cast<std::size_t>(rank)];
  const auto chunk = static_cast<std::size_t>(step.chunk);
  const std::size_t at = stage(rank, step.chunk);
  const StageTimes& times = pipeline_.stages[at];
  const double sending = pipeline_.blocks ? pipeline_.hop : 0;
  if (step.pass == Pass::forward) {
    state.free += times.forward + sending;
    ++state.forwards[chunk];
    if (at + 1 < depth_)
      send(Pass::forward, at + 1, chunk_of(at + 1, step.chunk), step.micro_batch,
           state.free + pipeline_.hop - sending);
    else send(Pass::backward, at, step.chunk, step.micro_batch, state.free);
  } else if (step.pass == Pass::backward) {
    const double later = fixed() ? 0 : times.weight_gradient;
    state.free += times.backward - later + sending;
    ++state.backwards[chunk];
    if (!fixed()) ++state.weights[chunk];
    if (at > 0)
      send(Pass::backward, at - 1, chunk_of(at - 1, step.chunk), step.micro_batch,
           state.free + pipeline_.hop - sending);
  } else {
    state.free += times.weight_gradient;
    --state.weights[chunk];
  }
  state.last = state.free;
}

bool Run::work(int rank) {
  Step step;
  if (!(fixed() ? next_fixed(rank, step) : next_greedy(rank, step))) return false;
  execute(rank, step);
  wakes_.push({ranks_[static_cast<std::size_t>(rank)].free, rank});
  return true;
}

double Run::go() {
  while (!wakes_.empty()) {
    const Wake wake = wakes_.top();
    wakes_.pop();
    Rank& state = ranks_[static_cast<std::size_t>(wake.rank)];
    if (wake.time < state.free) continue;  // busy; it wakes again when it is free
    state.free = wake.time;
    work(wake.rank);
  }
  double last = 0;
  for (const Rank& rank : ranks_) last = std::max(last, rank.last);
  // Micro-batches that do not fill the last round can make an interleaved order wait for itself;
  // frameworks then use another one.
  return all_done() ? last : pipeline_formula(pipeline_);
}

bool Run::all_done() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [&](const Rank& rank) {
    for (int chunk = 0; chunk < chunks_; ++chunk)
      if (rank.backwards[static_cast<std::size_t>(chunk)] < micro_batches(chunk)) return false;
    return true;
  });
}

}  // namespace

double run_pipeline(const Pipeline& pipeline) { return Run(pipeline).go(); }

}  // namespace isleway::plan
