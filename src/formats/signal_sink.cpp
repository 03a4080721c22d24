#include "formats/signal_sink.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "formats/paste/text_encoding.hpp"
#include "formats/pci.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr std::size_t kMostText = 1000, kMostQuote = 500;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

std::size_t hex_run(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_hex(text[end])) ++end;
  return end - at;
}

/// Length of an address that starts at `at` ("0000:1b:00.0", "1b:00.0"); 0 when none does.
std::size_t address_length(std::string_view text, std::size_t at) {
  std::size_t end = at;
  const std::size_t first = hex_run(text, end);
  if (first != 2 && first != 4 && first != 8) return 0;
  for (std::size_t parts = first == 2 ? 1 : 2; parts > 0; --parts) {
    end += hex_run(text, end);
    if (end >= text.size() || text[end] != ':' || hex_run(text, end + 1) != 2) return 0;
    ++end;
  }
  end += 2;
  if (end + 1 >= text.size() || text[end] != '.' || text[end + 1] < '0' || text[end + 1] > '7')
    return 0;
  return end + 2 - at;
}

}  // namespace

SignalSink::SignalSink(std::string_view text, const Location& from, Signals& signals,
                       Notices& notices)
    : lines_(split_lines(text)), from_(from), signals_(signals), notices_(notices) {
  from_.line = std::max(from_.line, 1);
}

std::string_view SignalSink::line(std::size_t index) const {
  return index < lines_.size() ? lines_[index] : std::string_view();
}

void SignalSink::at(std::size_t index, std::string_view node) {
  current_ = index;
  node_ = node;
}

Location SignalSink::here() const { return {from_.file, from_.line + static_cast<int>(current_)}; }

void SignalSink::add(std::string_view name, std::string_view subject, std::string_view peer,
                     Value value) {
  if (++added_ > kMostSignals) {
    if (added_ == kMostSignals + 1) skipped("more facts than one output states follow");
    return;
  }
  if (auto* text = std::get_if<std::string>(&value); text && text->size() > kMostText)
    text->resize(start_of(*text, kMostText).size());
  // A line of megabytes may state a hundred thousand facts.
  signals_.push_back({std::string(name), std::string(start_of(subject, kMostText)),
                      std::string(start_of(peer, kMostText)), std::move(value), node_, here(),
                      std::string(start_of(trim(line(current_)), kMostQuote))});
}

void SignalSink::number(std::string_view name, std::string_view subject, double value,
                        std::string_view peer) {
  add(name, subject, peer, value);
}

void SignalSink::text(std::string_view name, std::string_view subject, std::string_view value,
                      std::string_view peer) {
  value = trim(value);
  if (!value.empty()) add(name, subject, peer, std::string(value));
}

bool SignalSink::measure(std::string_view name, std::string_view subject, std::string_view value,
                         std::string_view peer) {
  const auto number = leading_number(value);
  if (number) add(name, subject, peer, *number);
  return number.has_value();
}

void SignalSink::assumed(std::string text) { notices_.assumed(here(), std::move(text)); }
void SignalSink::skipped(std::string text) { notices_.skipped(here(), std::move(text)); }
void SignalSink::incomplete(std::string text) { notices_.incomplete(here(), std::move(text)); }

void SignalSink::take(const Notices& notices, std::size_t first) {
  for (const Notice& notice : notices) {
    at(first + static_cast<std::size_t>(std::max(notice.where.line, 1)) - 1);
    switch (notice.kind) {
      case Notice::Kind::assumed: assumed(notice.text); break;
      case Notice::Kind::skipped: skipped(notice.text); break;
      case Notice::Kind::incomplete: incomplete(notice.text); break;
    }
  }
}

bool is_unknown_value(std::string_view text) {
  static constexpr std::array<std::string_view, 9> words = {
      "N/A", "[N/A]", "Unknown", "[Unknown]", "[Not Supported]", "Not Supported", "None", "", "-"};
  return std::find(words.begin(), words.end(), trim(text)) != words.end();
}

std::optional<double> leading_number(std::string_view text) {
  text = trim(text);
  std::string digits;
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) {
    if (text[i] == '-') digits += '-';
    ++i;
  }
  const std::size_t start = i;
  for (; i < text.size(); ++i) {
    const bool group = text[i] == ',' && i > start && i + 3 < text.size() &&
                       is_digit(text[i + 1]) && is_digit(text[i + 2]) && is_digit(text[i + 3]);
    const bool exponent = (text[i] == 'e' || text[i] == 'E') && i > start && i + 1 < text.size() &&
                          (is_digit(text[i + 1]) || ((text[i + 1] == '-' || text[i + 1] == '+') &&
                                                     i + 2 < text.size() && is_digit(text[i + 2])));
    if (group) continue;
    if (exponent) {
      digits += 'e';
      if (text[i + 1] == '+') ++i;
      else if (text[i + 1] == '-') digits += text[++i];
      continue;
    }
    // One point: of a version's number the first two parts.
    if (text[i] == '.' && digits.find('.') != std::string::npos) break;
    if (!is_digit(text[i]) && text[i] != '.') break;
    digits += text[i];
  }
  return parse_double(digits);
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + mark.size());
}

std::string_view before(std::string_view text, std::string_view mark) {
  return text.substr(0, text.find(mark));
}

std::string_view between(std::string_view text, std::string_view open, std::string_view close) {
  const std::size_t start = text.find(open);
  if (start == std::string_view::npos) return {};
  text = text.substr(start + open.size());
  const std::size_t end = text.find(close);
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

std::string_view first_word(std::string_view text) {
  text = trim(text);
  return text.substr(0, text.find_first_of(" \t"));
}

std::optional<KeyValue> key_value(std::string_view line) {
  for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
       colon = line.find(':', colon + 1)) {
    const bool ends = colon + 1 == line.size() || line[colon + 1] == ' ' || line[colon + 1] == '\t';
    if (!ends) continue;
    const std::string_view key = trim(line.substr(0, colon));
    if (key.empty()) return std::nullopt;
    return KeyValue{key, trim(line.substr(colon + 1))};
  }
  return std::nullopt;
}

std::string gpu_name(std::string_view index) { return "gpu" + std::string(trim(index)); }

std::string gpu_link_name(std::string_view gpu, std::string_view link) {
  return std::string(gpu) + "/link" + std::string(trim(link));
}

std::string bus_address(std::string_view text) {
  text = trim(text);
  if (starts_with_ignoring_case(text, "PCI:")) text.remove_prefix(4);
  const bool complete = contains(text, ".");
  std::string address = canonical_bus_id(complete ? std::string(text) : std::string(text) + ".0");
  return address;
}

std::string_view find_bus_address(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_hex(text[i]) || (i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) ||
                                       text[i - 1] == ':' || text[i - 1] == '.')))
      continue;
    if (const std::size_t length = address_length(text, i)) return text.substr(i, length);
    i += std::max<std::size_t>(hex_run(text, i), 1) - 1;
  }
  return {};
}

}  // namespace isleway::formats
