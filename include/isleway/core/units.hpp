// Strong types for the three quantities that everything here is made of.
//
// Interfaces never take a bare double: a Time cannot be passed where Bytes are
// expected, and a Rate says by its constructor whether it was given in bytes or bits.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>

namespace isleway {

/// A point in, or span of, simulated time. Integer picoseconds, so that sums never
/// depend on the order of addition; 64 bits hold 106 days.
class Time {
 public:
  constexpr Time() = default;
  static constexpr Time ps(std::int64_t value) { return Time(value); }
  static constexpr Time ns(double value) { return Time(round_to_int(value * 1e3)); }
  static constexpr Time us(double value) { return Time(round_to_int(value * 1e6)); }
  static constexpr Time seconds(double value) { return Time(round_to_int(value * 1e12)); }
  static constexpr Time max() { return Time(std::numeric_limits<std::int64_t>::max()); }

  constexpr std::int64_t ps() const { return ps_; }
  constexpr double us() const { return static_cast<double>(ps_) * 1e-6; }
  constexpr double seconds() const { return static_cast<double>(ps_) * 1e-12; }

  constexpr Time& operator+=(Time other) {
    ps_ += other.ps_;
    return *this;
  }
  constexpr Time& operator-=(Time other) {
    ps_ -= other.ps_;
    return *this;
  }
  friend constexpr Time operator+(Time a, Time b) { return Time(a.ps_ + b.ps_); }
  friend constexpr Time operator-(Time a, Time b) { return Time(a.ps_ - b.ps_); }
  friend constexpr Time operator*(Time a, std::int64_t n) { return Time(a.ps_ * n); }
  friend constexpr Time operator*(std::int64_t n, Time a) { return a * n; }
  friend constexpr auto operator<=>(Time, Time) = default;

  /// Scales by a factor that is not a whole number, rounded to the nearest picosecond.
  constexpr Time scaled(double factor) const {
    return Time(round_to_int(static_cast<double>(ps_) * factor));
  }

 private:
  explicit constexpr Time(std::int64_t value) : ps_(value) {}
  static constexpr std::int64_t round_to_int(double value) {
    return static_cast<std::int64_t>(value < 0 ? value - 0.5 : value + 0.5);
  }
  std::int64_t ps_ = 0;
};

/// An amount of data.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t value) : value_(value) {}
  static constexpr Bytes kib(std::int64_t n) { return Bytes(n << 10); }
  static constexpr Bytes mib(std::int64_t n) { return Bytes(n << 20); }
  static constexpr Bytes gib(std::int64_t n) { return Bytes(n << 30); }

  constexpr std::int64_t count() const { return value_; }

  constexpr Bytes& operator+=(Bytes other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    value_ -= other.value_;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.value_ + b.value_); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.value_ - b.value_); }
  friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return Bytes(a.value_ * n); }
  friend constexpr auto operator<=>(Bytes, Bytes) = default;

 private:
  std::int64_t value_ = 0;
};

/// Data per time in one direction. GB/s are 10^9 bytes per second, as nccl-tests and
/// vendors count them, never 2^30.
class Rate {
 public:
  constexpr Rate() = default;
  static constexpr Rate bytes_per_second(double value) { return Rate(value); }
  static constexpr Rate GBs(double value) { return Rate(value * 1e9); }
  static constexpr Rate gbits(double value) { return Rate(value * 1e9 / 8); }
  static constexpr Rate unlimited() { return Rate(std::numeric_limits<double>::infinity()); }

  constexpr double bytes_per_second() const { return value_; }
  constexpr double GBs() const { return value_ * 1e-9; }
  constexpr double gbits() const { return value_ * 8e-9; }
  constexpr bool is_zero() const { return value_ <= 0; }

  friend constexpr Rate operator+(Rate a, Rate b) { return Rate(a.value_ + b.value_); }
  friend constexpr Rate operator*(Rate a, double factor) { return Rate(a.value_ * factor); }
  friend constexpr Rate operator/(Rate a, double divisor) { return Rate(a.value_ / divisor); }
  friend constexpr auto operator<=>(Rate, Rate) = default;

 private:
  explicit constexpr Rate(double value) : value_(value) {}
  double value_ = 0;
};

/// How long `amount` takes at `rate`, rounded up to a whole picosecond.
/// Time::max() when the rate is zero: the transfer never ends.
Time transfer_time(Bytes amount, Rate rate);

/// The rate that moves `amount` in `time`; unlimited for no time at all.
Rate rate_of(Bytes amount, Time time);

/// "8", "64K", "1M", "16G" as nccl-tests takes its sizes (powers of two). Returns -1 when
/// the text is not a size or does not fit into 63 bits.
std::int64_t parse_size(const std::string& text);

/// The shortest of "512", "4K", "1M", "2G" that is exact, for headings and messages.
std::string size_text(Bytes amount);

}  // namespace isleway
