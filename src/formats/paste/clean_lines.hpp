// What pasting, quoting and launchers do to a tool's lines, undone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isleway::formats {

/// A text as the tool printed it. One line for each of the file's, so that numbers stay.
class CleanLines {
 public:
  explicit CleanLines(std::string_view raw);
  CleanLines(const CleanLines&) = delete;  // its lines point into it
  CleanLines& operator=(const CleanLines&) = delete;

  std::size_t size() const { return lines_.size(); }
  /// Without terminal codes, "> " of mails, numbers of editors and `grep -n`, entities of web
  /// pages, and launchers' tags and time stamps.
  std::string_view operator[](std::size_t index) const { return lines_[index]; }
  /// As in the file, apart from terminal codes.
  std::string_view original(std::size_t index) const { return originals_[index]; }

 private:
  void drop_quotes();
  void drop_numbers();

  std::string stripped_, clean_;
  std::vector<std::string_view> originals_, lines_;
};

}  // namespace isleway::formats
