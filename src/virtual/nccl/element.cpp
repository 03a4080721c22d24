#include "virtual/nccl/element.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "virtual/device/numbers.hpp"

namespace isleway::vgpu::nccl {
namespace {

template <class F>
void with_type(Type type, F f) {
  switch (type) {
    case Type::int8: return f(std::int8_t{});
    case Type::uint8: return f(std::uint8_t{});
    case Type::int32: return f(std::int32_t{});
    case Type::uint32: return f(std::uint32_t{});
    case Type::int64: return f(std::int64_t{});
    case Type::uint64: return f(std::uint64_t{});
    case Type::float16: return f(Half{});
    case Type::float32: return f(float{});
    case Type::float64: return f(double{});
    case Type::bfloat16: return f(BFloat16{});
    case Type::float8e4m3: return f(Float8E4M3{});
    case Type::float8e5m2: return f(Float8E5M2{});
  }
}

/// Integers wrap, as on a GPU; in C++ only unsigned ones may.
template <class T>
T sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return narrow<T>(widen(a) + widen(b));
  }
}
template <class T>
T product(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return narrow<T>(widen(a) * widen(b));
  }
}

/// Buffers of programs need not be aligned to what they are said to hold.
template <class T, class F>
void combine(std::span<std::byte> into, std::span<const std::byte> from, F f) {
  const std::size_t count = into.size() / sizeof(T);
  const bool aligned = reinterpret_cast<std::uintptr_t>(into.data()) % alignof(T) == 0 &&
                       reinterpret_cast<std::uintptr_t>(from.data()) % alignof(T) == 0;
  if (aligned) {
    T* __restrict a = reinterpret_cast<T*>(into.data());
    const T* __restrict b = reinterpret_cast<const T*>(from.data());
    // Blocks of one size are what compilers do several elements at once of.
    constexpr std::size_t block = 64;
    std::size_t i = 0;
    for (; i + block <= count; i += block)
      for (std::size_t j = 0; j < block; ++j) a[i + j] = f(a[i + j], b[i + j]);
    for (; i < count; ++i) a[i] = f(a[i], b[i]);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, into.data() + i * sizeof(T), sizeof(T));
    std::memcpy(&b, from.data() + i * sizeof(T), sizeof(T));
    a = f(a, b);
    std::memcpy(into.data() + i * sizeof(T), &a, sizeof(T));
  }
}

template <class T, class F>
void change(std::span<std::byte> values, F f) {
  for (std::size_t at = 0; at + sizeof(T) <= values.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, values.data() + at, sizeof(T));
    value = f(value);
    std::memcpy(values.data() + at, &value, sizeof(T));
  }
}

}  // namespace

int size_of(Type type) {
  int size = 0;
  with_type(type, [&](auto t) { size = static_cast<int>(sizeof t); });
  return size;
}

void reduce(const Reduction& reduction, std::span<std::byte> into,
            std::span<const std::byte> from) {
  with_type(reduction.type, [&](auto t) {
    using T = decltype(t);
    switch (reduction.op) {
      case Op::sum:
      case Op::avg:
      case Op::premul_sum: return combine<T>(into, from, [](T a, T b) { return sum(a, b); });
      case Op::prod: return combine<T>(into, from, [](T a, T b) { return product(a, b); });
      case Op::min:
        return combine<T>(into, from, [](T a, T b) { return widen(b) < widen(a) ? b : a; });
      case Op::max:
        return combine<T>(into, from, [](T a, T b) { return widen(a) < widen(b) ? b : a; });
    }
  });
}

void finish(const Reduction& reduction, std::span<std::byte> values) {
  if (reduction.op != Op::avg) return;
  with_type(reduction.type, [&](auto t) {
    using T = decltype(t);
    change<T>(values, [&](T value) {
      if constexpr (std::is_unsigned_v<T>)
        return static_cast<T>(value / static_cast<std::uint64_t>(reduction.ranks));
      else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(value / static_cast<std::int64_t>(reduction.ranks));
      else return narrow<T>(static_cast<double>(widen(value)) / reduction.ranks);
    });
  });
}

void scale(Type type, std::span<std::byte> values, const std::byte* scalar) {
  with_type(type, [&](auto t) {
    using T = decltype(t);
    T factor;
    std::memcpy(&factor, scalar, sizeof factor);
    change<T>(values, [&](T value) { return product(value, factor); });
  });
}

}  // namespace isleway::vgpu::nccl
