// What launchers and loggers put before each line of a program's output.
#pragma once

#include <optional>
#include <string_view>

namespace isleway::formats {

/// The line without one prefix such as "[1,0]<stdout>:" (mpirun --tag-output), " 3: "
/// (srun -l), "node7: " (pdsh) or "2025-05-21T09:40:05.123Z " (kubectl logs). White space
/// after the prefix stays.
std::string_view without_line_prefix(std::string_view line);

/// The same for tags and time stamps alone, where a word and a colon may be the line's own.
std::string_view without_log_prefix(std::string_view line);

/// One line after the other, as split_lines has them, without a list of all: a log may hold
/// more lines than memory should go to.
class LineCursor {
 public:
  explicit LineCursor(std::string_view text) : rest_(text) {}
  std::optional<std::string_view> next();
  int number() const { return number_; }  ///< of the line that next() gave last, from 1

 private:
  std::string_view rest_;
  int number_ = 0;
};

}  // namespace isleway::formats
