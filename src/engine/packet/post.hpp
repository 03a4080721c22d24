// What regions tell one another.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <vector>

#include "engine/packet/event.hpp"
#include "engine/packet/regions.hpp"

namespace isleway {

/// A box for each pair of regions, twice: what is sent in one window is collected in the next. A
/// region sends and collects on one thread at a time; between windows all threads meet.
class Post {
 public:
  explicit Post(std::uint32_t regions) : regions_(regions) {
    for (auto& boxes : boxes_) boxes.resize(std::size_t{regions} * regions);
    for (auto& waiting : waiting_) waiting = std::vector<std::atomic<std::uint64_t>>(regions);
  }

  void send(unsigned window, std::uint32_t from, std::uint32_t to, const Mail& mail) {
    box(window, from, to).push_back(mail);
    waiting_[window % 2][to].fetch_or(std::uint64_t{1} << from, std::memory_order_relaxed);
  }

  /// All that was sent to a region in the window before, by sender and in the order sent, so that
  /// it does not depend on threads.
  template <class Visit>
  void collect(unsigned window, std::uint32_t to, Visit visit) {
    const unsigned before = window + 1;
    std::uint64_t senders = waiting_[before % 2][to].exchange(0, std::memory_order_relaxed);
    for (; senders != 0; senders &= senders - 1) {
      std::vector<Mail>& mails =
          box(before, static_cast<std::uint32_t>(std::countr_zero(senders)), to);
      for (const Mail& mail : mails) visit(mail);
      mails.clear();
    }
  }

 private:
  static_assert(Regions::kMost <= 64, "a bit for each sender");

  std::vector<Mail>& box(unsigned window, std::uint32_t from, std::uint32_t to) {
    return boxes_[window % 2][std::size_t{from} * regions_ + to];
  }

  std::uint32_t regions_;
  std::array<std::vector<std::vector<Mail>>, 2> boxes_;
  std::array<std::vector<std::atomic<std::uint64_t>>, 2> waiting_;  ///< senders, by receiver
};

}  // namespace isleway
