#include "collective/program_path.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace isleway {
namespace {

/// How far a chain has come, and the message that came last.
struct Reach {
  std::int64_t hops = 0, bytes = 0;
  std::int64_t message = -1;

  bool operator<(const Reach& other) const {
    return hops != other.hops ? hops < other.hops : bytes < other.bytes;
  }
};

class PathFinder {
 public:
  PathFinder(const Schedule& schedule, const std::function<std::int64_t(Port)>& count)
      : schedule_(schedule) {
    const auto streams = static_cast<std::size_t>(schedule.streams());
    reach_.resize(static_cast<std::size_t>(schedule.agents()) * streams);
    next_.resize(reach_.size());
    sent_.resize(reach_.size());
    for (std::size_t i = 0; i < reach_.size(); ++i) {
      count_.push_back(count(port(i)));
      ready_.push_back(i);
    }
  }

  std::vector<CriticalStep> find() {
    // In any order: what a stream waits for does not depend on it.
    while (!ready_.empty()) {
      const std::size_t i = ready_.front();
      ready_.pop_front();
      while (next_[i] < count_[i] && advance(i)) ++next_[i];
    }
    return steps();
  }

 private:
  struct Message {
    std::int64_t before;
    Port from, to;
    std::int64_t bytes;
  };

  Port port(std::size_t i) const {
    const auto streams = static_cast<std::size_t>(schedule_.streams());
    return {static_cast<std::int32_t>(i / streams), static_cast<std::int32_t>(i % streams)};
  }
  std::size_t index(Port port) const {
    return static_cast<std::size_t>(port.agent) * static_cast<std::size_t>(schedule_.streams()) +
           static_cast<std::size_t>(port.stream);
  }
  std::deque<Reach>& fifo(std::size_t from, std::size_t to) {
    return fifos_[from * reach_.size() + to];
  }

  bool advance(std::size_t i) {
    schedule_.action(port(i), next_[i], action_);
    for (const Port from : action_.recv)
      if (fifo(index(from), i).empty()) return false;
    Reach& reach = reach_[i];
    for (const Port from : action_.recv) {
      auto& messages = fifo(index(from), i);
      reach = std::max(reach, messages.front());
      messages.pop_front();
    }
    for (const Port to : action_.send) {
      Reach arrived = reach;
      if (to.agent != port(i).agent) {
        arrived = {reach.hops + 1, reach.bytes + action_.bytes,
                   static_cast<std::int64_t>(messages_.size())};
        messages_.push_back({reach.message, port(i), to, action_.bytes});
        sent_[i] += action_.bytes;
      }
      fifo(i, index(to)).push_back(arrived);
      ready_.push_back(index(to));
      longest_ = std::max(longest_, arrived);
    }
    return true;
  }

  std::vector<CriticalStep> steps() const {
    std::vector<CriticalStep> path;
    const std::int64_t busiest = *std::ranges::max_element(sent_);
    const double share = longest_.bytes > busiest ? static_cast<double>(longest_.bytes - busiest) /
                                                        static_cast<double>(longest_.bytes)
                                                  : 0;
    for (std::int64_t m = longest_.message; m >= 0;) {
      const Message& message = messages_[static_cast<std::size_t>(m)];
      path.push_back({message.from, message.to,
                      static_cast<std::int64_t>(static_cast<double>(message.bytes) * share)});
      m = message.before;
    }
    std::ranges::reverse(path);
    return path;
  }

  const Schedule& schedule_;
  std::vector<Reach> reach_;  ///< by stream
  std::vector<std::int64_t> next_, count_, sent_;
  std::unordered_map<std::size_t, std::deque<Reach>> fifos_;
  std::deque<std::size_t> ready_;
  std::vector<Message> messages_;
  Reach longest_;
  Action action_;
};

}  // namespace

std::vector<CriticalStep> longest_path(const Schedule& schedule,
                                       const std::function<std::int64_t(Port)>& count) {
  return PathFinder(schedule, count).find();
}

}  // namespace isleway
