// What happens when.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

namespace isleway {

constexpr std::int64_t kNever = INT64_MAX;

/// Events by time and, among those of one time, in the order in which they were pushed. `Event`
/// has a member `time`, in whole picoseconds.
///
/// A radix heap: nothing is ever pushed before the time that is being handled, so events can
/// lie in buckets by the highest bit in which their time differs from it. An event moves at
/// most once a bit, and only to be looked at next; those of one time always lie together, so
/// that their order needs no number. Buckets keep their memory.
template <class Event>
class EventQueue {
 public:
  void push(const Event& event) {
    assert(event.time >= now_);
    put(event);
  }

  /// About so many are pushed next. Where they crowd into one bucket, that grows once: a large one
  /// that doubles takes half as much again while it does.
  void expect(std::size_t count) { expected_ = count; }

  /// Goes to the next time at which there is an event: the present one unless pop() has given
  /// all of it. `wanted` tells events that still count from those to forget. kNever when none is
  /// left before `limit`; then the present time stays, and later() is when the next one is.
  template <class Wanted>
  std::int64_t advance(Wanted wanted, std::int64_t limit = kNever) {
    if (next_ < buckets_[0].size()) return now_;
    buckets_[0].clear();
    next_ = 0;
    filled_ &= ~std::uint64_t{1};
    while (filled_ != 0) {
      const auto first = static_cast<std::size_t>(std::countr_zero(filled_));
      std::vector<Event>& bucket = buckets_[first];
      filled_ &= ~(std::uint64_t{1} << first);
      std::size_t kept = 0;
      std::int64_t earliest = kNever, latest = 0;
      for (const Event& event : bucket) {
        if (!wanted(event)) continue;
        if (event.time < earliest) earliest = event.time;
        if (event.time > latest) latest = event.time;
        bucket[kept++] = event;
      }
      bucket.resize(kept);
      if (kept == 0) continue;
      if (earliest >= limit) {
        filled_ |= std::uint64_t{1} << first;
        later_ = earliest;
        return kNever;
      }
      now_ = earliest;
      if (earliest == latest) {
        // All of them are next: a million that end together need no second place.
        bucket.swap(buckets_[0]);
        filled_ |= 1;
        return now_;
      }
      for (const Event& event : bucket) put(event);
      bucket.clear();
      return now_;
    }
    later_ = kNever;
    return kNever;
  }
  /// After advance() gave kNever: the time of the next event; kNever without any.
  std::int64_t later() const { return later_; }

  /// The next event of the present time; null when there is none. Valid until the next push.
  const Event* pop() { return next_ < buckets_[0].size() ? &buckets_[0][next_++] : nullptr; }

  /// Visits what comes after the present time.
  template <class Visit>
  void for_each_later(Visit visit) const {
    for (std::size_t b = 1; b < buckets_.size(); ++b)
      for (const Event& event : buckets_[b]) visit(event);
  }

  /// Puts the present time and the events that `moves` tells from others `later`. pop() has
  /// given all of the present time, and the other events are not before the new one.
  template <class Moves>
  void shift(std::int64_t later, Moves moves) {
    std::vector<Event> all;
    for_each_later([&](const Event& event) { all.push_back(event); });
    for (auto& bucket : buckets_) bucket.clear();
    next_ = 0;
    filled_ = 0;
    now_ += later;
    for (Event& event : all) {
      if (moves(event)) event.time += later;
      put(event);
    }
  }

 private:
  void put(const Event& event) {
    const auto difference = static_cast<std::uint64_t>(event.time ^ now_);
    const auto bucket = static_cast<std::size_t>(std::bit_width(difference));
    std::vector<Event>& into = buckets_[bucket];
    if (into.size() == into.capacity() && into.size() >= kLarge)
      into.reserve(into.size() + std::max(into.size() / 2, expected_));
    into.push_back(event);
    expected_ -= expected_ > 0;
    filled_ |= std::uint64_t{1} << bucket;
  }

  static constexpr std::size_t kLarge = 4096;

  std::array<std::vector<Event>, 64> buckets_;  ///< times have 63 bits
  std::uint64_t filled_ = 0;                    ///< which buckets hold something
  std::int64_t now_ = 0, later_ = kNever;
  std::size_t next_ = 0, expected_ = 0;
};

}  // namespace isleway
