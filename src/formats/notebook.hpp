// Notices of one reader: each text once, however often its cause is met.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isleway/core/error.hpp"

namespace isleway::formats {

/// A damaged file may hold the same fault ten thousand times. The first place is kept, and
/// how many more there were; distinct texts are limited as well.
class Notebook {
 public:
  explicit Notebook(std::string file) : file_(std::move(file)) {}

  void assumed(std::string text, int line = 0) { note(Notice::Kind::assumed, text, line); }
  void skipped(std::string text, int line = 0) { note(Notice::Kind::skipped, text, line); }
  void incomplete(std::string text, int line = 0) { note(Notice::Kind::incomplete, text, line); }

  const std::string& file() const { return file_; }
  Location at(int line, int column = 0) const { return {file_, line, column}; }

  /// All of it, in the order in which each text was first met.
  Notices notices() const;

 private:
  static constexpr std::size_t kMostTexts = 100;
  struct Entry {
    Notice notice;
    int more = 0;
  };
  void note(Notice::Kind kind, std::string& text, int line);

  std::string file_;
  std::vector<Entry> entries_;
  int left_out_ = 0;
};

/// Text from a file, fit for a message: in quotes, cut to a readable length, and without
/// control characters.
std::string cite(std::string_view text);

}  // namespace isleway::formats
