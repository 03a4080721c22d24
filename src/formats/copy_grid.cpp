#include "formats/copy_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

/// More than any machine has GPUs, or any run tables; what follows is left out.
constexpr std::size_t kMostColumns = 1024, kMostTables = 1000;

/// Sure signs that a line is a row and not prose that begins with a number.
bool is_cell(std::string_view word) {
  return equal_ignoring_case(word, "N/A") || parse_double(word).has_value();
}

}  // namespace

std::optional<double> copy_cell(std::optional<double> value) {
  return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

void CopyGrids::begin(std::string name, std::string description, int line) {
  close();
  open_ = true;
  table_ = {std::move(name), std::move(description), {}, line};
}

bool CopyGrids::take_heading(const std::vector<std::string_view>& words) {
  std::size_t first = 0;
  if (words[0] == "D\\D" || words[0] == "GPU" || words[0] == "CPU") first = 1;
  if (words.size() == first || words.size() - first > kMostColumns) return false;
  for (std::size_t i = first; i < words.size(); ++i)
    if (parse_int(words[i]) != static_cast<std::int64_t>(i - first)) return false;
  columns_ = words.size() - first;
  return true;
}

bool CopyGrids::take_row(const std::vector<std::string_view>& words) {
  if (parse_int(words[0]) != static_cast<std::int64_t>(table_.cells.size()) || words.size() < 2 ||
      table_.cells.size() == kMostColumns)
    return false;
  if (!std::all_of(words.begin() + 1, words.end(), is_cell)) return false;
  std::vector<std::optional<double>> cells(columns_);
  for (std::size_t i = 0; i < std::min(columns_, words.size() - 1); ++i)
    cells[i] = copy_cell(parse_double(words[i + 1]));
  if (words.size() - 1 < columns_)
    notes_.incomplete(fmt::format("a row of {} has fewer cells than columns", table_.name),
                      table_.line);
  table_.cells.push_back(std::move(cells));
  return true;
}

bool CopyGrids::take(std::string_view line) {
  if (!open_) return false;
  const std::vector<std::string_view> words = split_words(line);
  if (words.empty()) return false;
  return columns_ == 0 ? take_heading(words) : take_row(words);
}

void CopyGrids::close() {
  if (open_ && !table_.cells.empty()) {
    if (tables_.size() < kMostTables) tables_.push_back(std::move(table_));
    else notes_.skipped(fmt::format("tables beyond {} are left out", kMostTables));
  }
  open_ = false;
  columns_ = 0;
}

std::vector<CopyTable> CopyGrids::finish() {
  close();
  return std::move(tables_);
}

}  // namespace isleway::formats
