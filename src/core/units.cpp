#include "isleway/core/units.hpp"

#include <cctype>
#include <cmath>

#include "isleway/core/text.hpp"

namespace isleway {

Time transfer_time(Bytes amount, Rate rate) {
  if (amount.count() <= 0) return Time();
  if (rate.is_zero()) return Time::max();
  const double ps = std::ceil(static_cast<double>(amount.count()) / rate.bytes_per_second() * 1e12);
  return ps >= 9.2e18 ? Time::max() : Time::ps(static_cast<std::int64_t>(ps));
}

Rate rate_of(Bytes amount, Time time) {
  if (time <= Time()) return Rate::unlimited();
  return Rate::bytes_per_second(static_cast<double>(amount.count()) / time.seconds());
}

std::int64_t parse_size(const std::string& text) {
  std::string_view digits = trim(text);
  // nccl-tests takes "8", "32M", "1G"; people also write "1GiB" and "64KB".
  if (!digits.empty() && (digits.back() == 'B' || digits.back() == 'b')) digits.remove_suffix(1);
  if (!digits.empty() && digits.back() == 'i') digits.remove_suffix(1);
  int shift = 0;
  if (!digits.empty()) {
    switch (std::toupper(static_cast<unsigned char>(digits.back()))) {
      case 'K': shift = 10; break;
      case 'M': shift = 20; break;
      case 'G': shift = 30; break;
      case 'T': shift = 40; break;
      default: break;
    }
    if (shift != 0) digits.remove_suffix(1);
  }
  const auto value = parse_double(digits);
  if (!value || *value < 0) return -1;
  const double scaled = std::ldexp(*value, shift);
  return scaled < 9.2e18 ? static_cast<std::int64_t>(scaled) : -1;
}

std::string size_text(Bytes amount) {
  std::int64_t value = amount.count();
  int unit = 0;
  while (unit < 4 && value >= 1024 && value % 1024 == 0) {
    value /= 1024;
    ++unit;
  }
  std::string text = std::to_string(value);
  if (unit > 0) text += "KMGT"[unit - 1];
  return text;
}

}  // namespace isleway
