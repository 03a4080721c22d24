// A queue in one piece of memory, which it keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace isleway {

/// Small, since there are many that are empty.
template <class T>
class Ring {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  T& front() { return slots_[first_]; }
  /// Number `i` from the front.
  T& operator[](std::size_t i) { return slots_[(first_ + i) & (room_ - 1)]; }
  void push_back(const T& value) {
    if (count_ == room_) grow();
    slots_[(first_ + count_++) & (room_ - 1)] = value;
  }
  void pop_front() {
    first_ = (first_ + 1) & (room_ - 1);
    --count_;
  }

 private:
  void grow() {
    const std::uint32_t room = room_ == 0 ? 4 : 2 * room_;
    auto larger = std::make_unique<T[]>(room);
    for (std::uint32_t i = 0; i < count_; ++i) larger[i] = (*this)[i];
    slots_ = std::move(larger);
    room_ = room;
    first_ = 0;
  }
  std::unique_ptr<T[]> slots_;
  std::uint32_t room_ = 0;  ///< a power of two, or none
  std::uint32_t first_ = 0, count_ = 0;
};

}  // namespace isleway
