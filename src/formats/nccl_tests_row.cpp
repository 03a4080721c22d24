// Rows of nccl-tests: by the heading where there is one, else by their shape.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "formats/nccl_tests_lines.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

/// Two sides of time, algbw, busbw, #wrong and four statistics, a root and a timestamp.
constexpr std::size_t kMostNumbers = 20;

bool is_word(std::string_view token) {
  return !token.empty() && token.size() <= 16 &&
         std::isalpha(static_cast<unsigned char>(token[0])) &&
         std::all_of(token.begin(), token.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
         });
}

bool is_number(std::string_view token) { return token == "N/A" || parse_double(token).has_value(); }

/// What is left of "-1node7:4711:4711" where another process printed right behind a number.
std::string_view number_before_junk(std::string_view token) {
  const std::size_t end = token.find_first_not_of("-0123456789.");
  if (end == 0 || end == std::string_view::npos ||
      !std::isalpha(static_cast<unsigned char>(token[end])))
    return {};
  const std::string_view number = token.substr(0, end);
  return is_number(number) ? number : std::string_view();
}

/// A value that a measurement can have.
std::optional<double> parse_measure(std::string_view token) {
  const auto value = parse_double(token);
  if (!value || !std::isfinite(*value) || *value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<NcclTestsRowReader> NcclTestsRowReader::start(std::string_view line,
                                                            const NcclTestsColumns* columns) {
  line = trim(line);
  const std::vector<std::string_view> words = split_words(line);
  if (words.size() < 3) return std::nullopt;
  const auto bytes = parse_int(words[0]), count = parse_int(words[1]);
  if (!bytes || !count || *bytes < 0 || *count < 0 || !is_word(words[2])) return std::nullopt;
  NcclTestsRowReader reader;
  reader.has_heading_ = columns != nullptr;
  if (columns != nullptr) reader.columns_ = *columns;
  reader.row_.bytes = *bytes;
  reader.row_.count = *count;
  reader.row_.type = words[2];
  std::size_t next = 3;
  if (next < words.size() && is_word(words[next])) reader.row_.redop = words[next++];
  // Without a heading, three words may be anything: a side must follow.
  if (columns == nullptr && (words.size() < next + 4 || !is_number(words[next])))
    return std::nullopt;
  // Blanks where the first side would stand: the tool ran in place alone.
  const std::size_t gap = line.find(std::string(32, ' '));
  reader.in_place_only_ = gap != std::string_view::npos;
  reader.take_numbers(words, next);
  return reader;
}

void NcclTestsRowReader::take_numbers(const std::vector<std::string_view>& words,
                                      std::size_t from) {
  for (std::size_t i = from; i < words.size() && numbers_.size() < kMostNumbers; ++i) {
    if (is_number(words[i])) {
      numbers_.emplace_back(words[i]);
      continue;
    }
    if (const std::string_view number = number_before_junk(words[i]); !number.empty())
      numbers_.emplace_back(number);
    break;
  }
}

bool NcclTestsRowReader::continues(std::string_view line) {
  const std::vector<std::string_view> words = split_words(line);
  if (is_complete() || words.empty() || !is_number(words[0])) return false;
  // Times have a point; a line that starts with a plain number and goes on with words is text.
  const bool all = std::all_of(words.begin(), words.end(), is_number);
  if (!all && words[0].find('.') == std::string_view::npos) return false;
  // A terminal wraps inside a number, another process never does: then there is one too many.
  const std::size_t wanted = (columns_.root ? 1 : 0) + 2 * side_width();
  const bool one_too_many = has_heading_ && numbers_.size() + words.size() == wanted + 1;
  if (one_too_many && !numbers_.empty() && is_number(numbers_.back() + std::string(words[0]))) {
    numbers_.back() += words[0];
    take_numbers(words, 1);
  } else {
    take_numbers(words, 0);
  }
  return true;
}

bool NcclTestsRowReader::is_complete() const {
  const std::size_t n = numbers_.size();
  if (has_heading_) return n >= (columns_.root ? 1 : 0) + 2 * side_width();
  return n >= 2 * side_width();
}

std::optional<NcclTestsRow::Side> NcclTestsRowReader::side_at(std::size_t first) const {
  if (first + 4 > numbers_.size()) return std::nullopt;
  const auto time = parse_measure(numbers_[first]);
  const auto algbw = parse_measure(numbers_[first + 1]);
  const auto busbw = parse_measure(numbers_[first + 2]);
  if (!time || !algbw || !busbw) return std::nullopt;
  return NcclTestsRow::Side{*time * (columns_.milliseconds ? 1000 : 1), *algbw, *busbw,
                            numbers_[first + 3]};
}

NcclTestsRow NcclTestsRowReader::row() const {
  NcclTestsRow row = row_;
  const std::size_t n = numbers_.size();
  // Without a heading, an odd number of numbers starts with the root.
  const bool root = has_heading_ ? columns_.root && n > 0 : n % side_width() == 1;
  if (root)
    if (const auto value = parse_int(numbers_[0]); value && *value >= -1 && *value <= 1 << 20)
      row.root = static_cast<int>(*value);
  const std::size_t first = root ? 1 : 0;
  if (in_place_only_ && n < first + 2 * side_width()) {
    row.in_place = side_at(first);
  } else {
    row.out_of_place = side_at(first);
    row.in_place = side_at(first + side_width());
  }
  return row;
}

}  // namespace isleway::formats
