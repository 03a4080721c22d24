#include "formats/topo_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "formats/line_prefix.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

class GridParser {
 public:
  GridParser(std::string_view text, TopoCellTest is_cell, Notebook& notes)
      : is_cell_(is_cell), notes_(notes) {
    if (text.size() > kTopoBytes)
      notes_.skipped(fmt::format("only the first {} MiB are read", kTopoBytes >> 20));
    grid_.lines = split_lines(text.substr(0, kTopoBytes));
    for (std::string_view& line : grid_.lines) line = bare_topo_line(line);
  }

  Result<TopoGrid> parse() {
    for (std::size_t i = 0; i < grid_.lines.size(); ++i) {
      const Tokens tokens = topo_tokens(grid_.lines[i]);
      if (tokens.empty()) {
        row_open_ = false;
        continue;
      }
      if (!take(tokens, i)) break;
      if (names_.size() > kMaxTopoDevices)
        return fail(fmt::format("names more than {} devices", kMaxTopoDevices),
                    "the matrix of one host", {}, notes_.at(static_cast<int>(i + 1)));
    }
    finish();
    return std::move(grid_);
  }

 private:
  struct RawRow {
    int line = 0;
    std::string_view name;
    std::string_view text;  ///< of the first line, for tab-separated columns
    Tokens tokens;          ///< without the name
  };

  /// False when the matrix is over.
  bool take(const Tokens& tokens, std::size_t index) {
    const int line = static_cast<int>(index + 1);
    const bool names_device = is_topo_device_name(tokens[0]) && !is_cell_(tokens[0]);
    const bool is_row = names_device && tokens.size() > 1 && is_cell_(tokens[1]);
    const bool is_bare_row = names_device && tokens.size() == 1 && column_of(tokens[0]);
    if (is_row || is_bare_row) {
      add_row(tokens, index);
      grid_.end = index + 1;
    } else if (const auto header = parse_topo_header(tokens, is_cell_, continues_header(index))) {
      if (!rows_.empty()) {
        if (!header->devices.empty() && header->devices.size() > 1)
          notes_.skipped("a second matrix starts here; only the first is read", line);
        return header->devices.size() <= 1;
      }
      add_header(*header, index);
      grid_.end = index + 1;
    } else if (row_open_ && continues_row(tokens)) {
      Tokens& row = rows_.back().tokens;
      row.insert(row.end(), tokens.begin(), tokens.end());
      grid_.end = index + 1;
    } else {
      row_open_ = false;
    }
    return true;
  }

  std::optional<std::size_t> column_of(std::string_view name) const {
    const auto found = names_.find(name);
    if (found == names_.end()) return std::nullopt;
    return found->second;
  }

  /// A header that the terminal wrapped goes on in the next line.
  bool continues_header(std::size_t index) const {
    return grid_.header_line > 0 && rows_.empty() && index == last_header_index_ + 1 &&
           grid_.titles == 0;
  }

  void add_header(const TopoHeader& header, std::size_t index) {
    if (!continues_header(index)) {
      grid_.devices.clear();
      names_.clear();
      grid_.header_line = static_cast<int>(index + 1);
    }
    for (const std::string_view name : header.devices) {
      if (names_.size() > kMaxTopoDevices) break;
      if (!names_.emplace(name, grid_.devices.size()).second) {
        notes_.skipped(fmt::format("the header names {} twice", name), static_cast<int>(index + 1));
        continue;
      }
      grid_.devices.push_back(name);
    }
    grid_.titles = header.titles;
    last_header_index_ = index;
  }

  void add_row(const Tokens& tokens, std::size_t index) {
    RawRow row{static_cast<int>(index + 1),
               tokens[0],
               grid_.lines[index],
               {tokens.begin() + 1, tokens.end()}};
    row_open_ = rows_.size() < 2 * kMaxTopoDevices;
    if (row_open_) rows_.push_back(std::move(row));
  }

  /// Cells and affinities alone, after a row that lacks some.
  bool continues_row(const Tokens& tokens) const {
    if (grid_.devices.empty() || cell_count(rows_.back().tokens) >= grid_.devices.size())
      return false;
    return is_cell_(tokens[0]);
  }

  /// Up to the last cell: an unknown word between cells is one that was garbled.
  std::size_t cell_count(const Tokens& tokens) const {
    return static_cast<std::size_t>(tokens.rend() -
                                    std::find_if(tokens.rbegin(), tokens.rend(), is_cell_));
  }

  void finish() {
    take_names_from_rows();
    grid_.rows.resize(grid_.devices.size());
    for (const RawRow& row : rows_) {
      const auto column = column_of(row.name);
      if (!column) {
        notes_.skipped(fmt::format("the header does not name {}", row.name), row.line);
        continue;
      }
      TopoGrid::Row& target = grid_.rows[*column];
      if (target.line > 0) {
        notes_.skipped(fmt::format("a second row for {}", row.name), row.line);
        continue;
      }
      target.line = row.line;
      place_cells(row, *column, target);
      place_columns(row, target);
    }
  }

  /// Without a header, or with one that was cut short, the rows say which devices there are.
  void take_names_from_rows() {
    if (rows_.empty()) return;
    Tokens names;
    std::map<std::string_view, std::size_t> numbers;
    std::size_t widest = 0;
    for (const RawRow& row : rows_) {
      if (numbers.emplace(row.name, names.size()).second) names.push_back(row.name);
      widest = std::max(widest, cell_count(row.tokens));
    }
    const bool extends = names.size() > grid_.devices.size() && widest >= names.size() &&
                         std::equal(grid_.devices.begin(), grid_.devices.end(), names.begin());
    if (!extends && !grid_.devices.empty()) return;
    notes_.assumed(fmt::format("the header is {}; the columns are taken to be the rows' devices",
                               grid_.devices.empty() ? "missing" : "cut"),
                   rows_.front().line);
    grid_.devices = std::move(names);
    names_ = std::move(numbers);
  }

  /// The diagonal's X says where a row is aligned even if a cell is lost or too many.
  void place_cells(const RawRow& row, std::size_t own, TopoGrid::Row& target) {
    const std::size_t n = grid_.devices.size();
    const std::size_t count = cell_count(row.tokens);
    target.cells.assign(n, {});
    const auto begin = row.tokens.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    const auto self = static_cast<std::size_t>(std::find(begin, end, "X") - begin);
    if (self == own || self == count) {
      for (std::size_t i = 0; i < std::min(n, count); ++i) target.cells[i] = row.tokens[i];
    } else {
      // Something before the diagonal is lost: what follows it is still in place.
      for (std::size_t i = self; i < count && own + (i - self) < n; ++i)
        target.cells[own + (i - self)] = row.tokens[i];
    }
    if (self != own && self != count) {
      notes_.incomplete(fmt::format("{}: a cell before the X is lost or too many, so the cells "
                                    "before it are not used",
                                    row.name),
                        row.line);
    } else if (count < n) {
      notes_.incomplete(fmt::format("{}: {} of {} cells", row.name, count, n), row.line);
    } else if (count > n) {
      notes_.skipped(fmt::format("{}: {} cells for {} columns", row.name, count, n), row.line);
    }
  }

  /// "0-55,112-167  0  N/A": by tabs where the line still has them, else by what they look like.
  void place_columns(const RawRow& row, TopoGrid::Row& target) const {
    const std::size_t titles = grid_.titles > 0 ? grid_.titles : 3;
    target.columns.assign(titles, {});
    const std::size_t count = cell_count(row.tokens);
    const Tokens words(row.tokens.begin() + static_cast<std::ptrdiff_t>(count), row.tokens.end());
    if (words.empty()) return;
    const Tokens fields = split(row.text, '\t');
    if (fields.size() > count + 1 && trim(fields[0]) == row.name &&
        trim(fields[1]) == row.tokens[0] && trim(fields[count]) == row.tokens[count - 1]) {
      // "affinity TAB numa TAB TAB gpu-numa": a title of two tab stops gets a second tab.
      static constexpr std::array<std::size_t, 3> offsets = {1, 2, 4};
      for (std::size_t i = 0; i < std::min<std::size_t>(titles, 3); ++i)
        if (count + offsets[i] < fields.size())
          target.columns[i] = trim(fields[count + offsets[i]]);
      if (titles >= 3 && target.columns[2].empty() && count + 3 < fields.size())
        target.columns[2] = trim(fields[count + 3]);
      return;
    }
    // Blanks only: an empty affinity leaves no trace, so go by form and fill from the right.
    const bool affinity =
        words[0].find_first_of("-,") != std::string_view::npos || words.size() >= titles;
    std::size_t column = affinity ? 0 : 1;
    for (std::size_t i = 0; i < words.size() && column < titles; ++i)
      target.columns[column++] = words[i];
  }

  TopoCellTest is_cell_;
  Notebook& notes_;
  TopoGrid grid_;
  std::map<std::string_view, std::size_t> names_;
  std::vector<RawRow> rows_;
  bool row_open_ = false;  ///< the last line was a row, which the next may continue
  std::size_t last_header_index_ = 0;
};

}  // namespace

bool TopoGrid::has_rows() const {
  return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.line > 0; });
}

Result<TopoGrid> parse_topo_grid(std::string_view text, TopoCellTest is_cell, Notebook& notes) {
  return GridParser(text, is_cell, notes).parse();
}

int topo_grid_evidence(std::string_view text, TopoCellTest is_cell) {
  int evidence = 0;
  bool lone_gpu = false;  // whose row is no more than an X, so the header must speak for it
  LineCursor lines(text.substr(0, kTopoBytes));
  while (const auto line = lines.next()) {
    const Tokens tokens = topo_tokens(bare_topo_line(*line));
    if (tokens.size() > 1 && is_gpu_name(tokens[0]) && is_cell(tokens[1])) {
      const bool has_self = std::find(tokens.begin(), tokens.end(), "X") != tokens.end();
      const bool has_pair = tokens.size() > 2 && is_cell(tokens[2]);
      if (has_self && (has_pair || lone_gpu)) return 2;
    }
    if (const auto header = parse_topo_header(tokens, is_cell)) {
      lone_gpu = header->devices.size() == 1 && header->titles > 0;
      if (header->devices.size() > 1 || lone_gpu) evidence = 1;
    }
  }
  return evidence;
}

}  // namespace isleway::formats
