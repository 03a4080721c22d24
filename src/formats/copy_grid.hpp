// Matrices as benchmarks of copies print them: numbered columns, numbered rows.
#pragma once

#include <string_view>
#include <vector>

#include "formats/notebook.hpp"
#include "isleway/formats.hpp"

namespace isleway::formats {

/// Gathers tables from a text, line by line. Lines that belong to no table are left alone.
class CopyGrids {
 public:
  explicit CopyGrids(Notebook& notes) : notes_(notes) {}

  /// A table of this name begins with the next heading; what was open is closed.
  void begin(std::string name, std::string description, int line);
  bool is_open() const { return open_; }
  /// A heading of column numbers ("0 1 2", "D\D 0 1 2") or a row ("1 276.5 N/A 276.4").
  /// False when it is neither, or no table has begun.
  bool take(std::string_view line);
  void close();
  std::vector<CopyTable> finish();

 private:
  bool take_heading(const std::vector<std::string_view>& words);
  bool take_row(const std::vector<std::string_view>& words);

  Notebook& notes_;
  std::vector<CopyTable> tables_;
  CopyTable table_;
  std::size_t columns_ = 0;
  bool open_ = false;
};

/// A bandwidth or a time; nothing for what cannot be one.
std::optional<double> copy_cell(std::optional<double> value);

}  // namespace isleway::formats
