// A vector whose first N elements live inside it.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace isleway {

/// For lists that are nearly always short and made in hot loops: no allocation up to N
/// elements, and clear() keeps what was allocated beyond that. Trivial types only.
template <class T, std::size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  void push_back(const T& value) {
    if (size_ < N) {
      inline_[size_] = value;
    } else {
      if (size_ == N) heap_.assign(inline_.begin(), inline_.end());
      heap_.push_back(value);
    }
    ++size_;
  }
  void clear() {
    size_ = 0;
    heap_.clear();
  }
  const T* data() const { return size_ <= N ? inline_.data() : heap_.data(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  std::array<T, N> inline_{};
  std::vector<T> heap_;
  std::size_t size_ = 0;
};

}  // namespace isleway
