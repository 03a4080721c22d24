#include "engine/period.hpp"

#include <algorithm>

namespace isleway {
namespace {

constexpr std::int64_t kFewestLoops = 4;
constexpr int kPatience = 256;

}  // namespace

Period::Period(const Schedule& schedule, const Programs& programs) {
  for (StreamId s = 0; s < programs.stream_count(); ++s) {
    loops_.push_back(schedule.loop(programs.port(s)));
    if (loops_[s].count > loops_[leader_].count) leader_ = s;
  }
  if (loops_.empty() || loops_[leader_].count < kFewestLoops) return;
  patience_ = kPatience;
  next_ = loops_[leader_].first + loops_[leader_].length;
}

std::int64_t Period::repeats(const Programs& programs, std::vector<std::uint64_t> state, Sums sums,
                             std::int64_t latest) {
  --patience_;
  while (next_ <= programs.at(leader_)) next_ += loops_[leader_].length;
  if (state == saved_.state && sums.now > saved_.sums.now) {
    std::int64_t times = (latest - sums.now) / (sums.now - saved_.sums.now);
    for (StreamId s = 0; s < loops_.size() && times > 0; ++s) {
      const std::int64_t at = programs.at(s), done = at - saved_.at[s];
      if (done == 0 && at >= programs.action_count(s)) continue;
      const Loop& loop = loops_[s];
      const bool loops = done > 0 && done % std::max<std::int64_t>(1, loop.length) == 0 &&
                         saved_.at[s] >= loop.first;
      times = loops ? std::min(times, (loop.first + loop.count * loop.length - 1 - at) / done) : 0;
    }
    if (times > 0) return times;
  }
  // Brent's way to find a cycle of any length: keep a state twice as long as the one before.
  if (++since_saved_ >= keep_for_) {
    since_saved_ = 0;
    keep_for_ *= 2;
    saved_.state = std::move(state);
    saved_.sums = std::move(sums);
    saved_.at.clear();
    for (StreamId s = 0; s < loops_.size(); ++s) saved_.at.push_back(programs.at(s));
  }
  return 0;
}

void Period::jump(Programs& programs, std::int64_t times) {
  for (StreamId s = 0; s < loops_.size(); ++s)
    programs.skip(s, times * (programs.at(s) - saved_.at[s]));
  forget();
}

}  // namespace isleway
