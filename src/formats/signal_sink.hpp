// What a reader of signals writes to: facts with the line that states them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isleway/core/text.hpp"
#include "isleway/formats/signal.hpp"

namespace isleway::formats {

/// The lines of a text, and the signals and notices made of it. Readers move to a line and
/// say what it states; place and quote are added here.
class SignalSink {
 public:
  using Value = std::variant<double, std::string>;

  SignalSink(std::string_view text, const Location& from, Signals& signals, Notices& notices);

  const std::vector<std::string_view>& lines() const { return lines_; }
  std::size_t size() const { return lines_.size(); }
  /// Empty after the last line.
  std::string_view line(std::size_t index) const;

  /// What is said from now on is stated by this line (from 0), by this host if not empty.
  void at(std::size_t index, std::string_view node = {});

  void number(std::string_view name, std::string_view subject, double value,
              std::string_view peer = {});
  /// Nothing when `value` is blank.
  void text(std::string_view name, std::string_view subject, std::string_view value,
            std::string_view peer = {});
  /// The same, also when blank.
  void raw(std::string_view name, std::string_view subject, std::string_view value,
           std::string_view peer = {}) {
    add(name, subject, peer, std::string(trim(value)));
  }
  /// A number where `value` is one or starts with one and a unit ("16x", "85 C"), else nothing.
  bool measure(std::string_view name, std::string_view subject, std::string_view value,
               std::string_view peer = {});

  void assumed(std::string text);
  void skipped(std::string text);
  void incomplete(std::string text);
  /// Notices whose lines are counted from the line `first`.
  void take(const Notices& notices, std::size_t first);

 private:
  void add(std::string_view name, std::string_view subject, std::string_view peer, Value value);
  Location here() const;

  /// More than any whole output states; what states more is a flood of one message.
  static constexpr std::size_t kMostSignals = 200'000;

  std::vector<std::string_view> lines_;
  Location from_;
  Signals& signals_;
  Notices& notices_;
  std::size_t current_ = 0, added_ = 0;
  std::string node_;
};

/// "N/A", "[N/A]", "Unknown", "[Not Supported]": the tool says that it does not know.
bool is_unknown_value(std::string_view text);

/// The number that `text` starts with ("16x", "26.562 GB/s", "1,024"), or nothing.
std::optional<double> leading_number(std::string_view text);

/// The part after the first `mark`, or empty; `after_last` after the last.
std::string_view after(std::string_view text, std::string_view mark);
/// The part before the first `mark`, or all of it.
std::string_view before(std::string_view text, std::string_view mark);
/// Between the first `open` and the next `close`; empty when either is missing.
std::string_view between(std::string_view text, std::string_view open, std::string_view close);

bool contains(std::string_view text, std::string_view part);

/// Without blanks before it; empty when there is none.
std::string_view first_word(std::string_view text);

/// "Key : value" split at the first colon that blanks or the line's end follow, both trimmed.
struct KeyValue {
  std::string_view key, value;
};
std::optional<KeyValue> key_value(std::string_view line);

/// "gpu3", "gpu3/link5".
std::string gpu_name(std::string_view index);
std::string gpu_link_name(std::string_view gpu, std::string_view link);

/// canonical_bus_id, with function 0 where the text leaves it out, as kernel messages do.
std::string bus_address(std::string_view text);

/// The first word of that form in `text` ("0000:1b:00.0", "1b:00.0"), or empty.
std::string_view find_bus_address(std::string_view text);

}  // namespace isleway::formats
