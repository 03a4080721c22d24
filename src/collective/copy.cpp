#include <algorithm>
#include <cassert>
#include <map>

#include "collective/cut.hpp"

namespace isleway {
namespace {

class Copy final : public Schedule {
 public:
  Copy(int ranks, std::vector<std::pair<int, int>> pairs, std::int64_t bytes, std::int64_t message)
      : ranks_(ranks), pairs_(std::move(pairs)), bytes_(bytes), message_(message) {
    std::map<int, std::int64_t> received;
    for (const auto& [from, to] : pairs_) store_offset_.push_back(bytes * received[to]++);
  }

  int ranks() const override { return ranks_; }
  int streams() const override { return 2 * static_cast<int>(pairs_.size()); }

  std::int64_t action_count(Port port) const override {
    const auto& [from, to] = pairs_[port.stream / 2];
    return port.agent == (is_send(port) ? from : to) ? messages() : 0;
  }

  void action(Port port, std::int64_t k, Action& out) const override {
    out.clear();
    const auto& [from, to] = pairs_[port.stream / 2];
    const std::int64_t offset = k * message_;
    out.bytes = std::min(message_, bytes_ - offset);
    if (is_send(port)) {
      out.source = {Region::Buffer::input, offset};
      out.send.push_back({to, port.stream + 1});
    } else {
      out.store = {Region::Buffer::output, store_offset_[port.stream / 2] + offset};
      out.recv.push_back({from, port.stream - 1});
    }
  }

  void loads(const std::function<void(const Load&)>& visit) const override {
    if (bytes_ == 0) return;
    for (std::int32_t p = 0; p < static_cast<std::int32_t>(pairs_.size()); ++p)
      visit({{pairs_[p].first, 2 * p}, {pairs_[p].second, 2 * p + 1}, bytes_, messages()});
  }

  std::vector<CriticalStep> critical_path() const override {
    std::vector<CriticalStep> path;
    if (pairs_.empty() || bytes_ == 0) return path;
    const Port from{pairs_[0].first, 0}, to{pairs_[0].second, 1};
    path.push_back({from, to});
    if (messages() > 1)
      path.push_back({from, to, 0, static_cast<double>(messages() - 1), CriticalStep::kAllHidden});
    return path;
  }

 private:
  static bool is_send(Port port) { return port.stream % 2 == 0; }
  std::int64_t messages() const { return (bytes_ + message_ - 1) / message_; }

  int ranks_;
  std::vector<std::pair<int, int>> pairs_;
  std::int64_t bytes_, message_;
  std::vector<std::int64_t> store_offset_;  ///< copies to one rank do not overlap
};

}  // namespace

std::unique_ptr<Schedule> make_copy(int ranks, std::vector<std::pair<int, int>> pairs,
                                    std::int64_t bytes, std::int64_t message_bytes) {
  assert(bytes >= 0 && message_bytes > 0);
  return std::make_unique<Copy>(ranks, std::move(pairs), bytes, message_bytes);
}

}  // namespace isleway
