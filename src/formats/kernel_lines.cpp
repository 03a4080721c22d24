#include "formats/kernel_lines.hpp"

#include <algorithm>
#include <cctype>

#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

bool is_host_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
}

/// "6,3973,227996636,-;text"
std::optional<KernelLine> parse_kmsg(std::string_view line) {
  const std::size_t end = line.substr(0, 64).find(';');
  if (end == std::string_view::npos) return std::nullopt;
  const auto fields = split(line.substr(0, end), ',');
  if (fields.size() < 4 || !parse_int(fields[0]) || !parse_int(fields[1])) return std::nullopt;
  const auto microseconds = parse_int(fields[2]);
  if (!microseconds) return std::nullopt;
  return KernelLine{{}, static_cast<double>(*microseconds) * 1e-6, line.substr(end + 1)};
}

/// "[   38.175561] text" and what `dmesg -T` prints instead of the number.
void take_time(KernelLine& line) {
  const std::string_view text = trim(line.text);
  if (!text.starts_with("[")) return;
  const std::size_t close = text.substr(0, 40).find(']');
  if (close == std::string_view::npos) return;
  line.time_s = parse_double(text.substr(1, close - 1));
  line.text = trim(text.substr(close + 1));
}

}  // namespace

std::string_view journal_host(std::string_view line, std::string_view program) {
  for (std::size_t at = line.find(program); at != std::string_view::npos;
       at = line.find(program, at + 1)) {
    const std::size_t end = at + program.size();
    const bool closes = end < line.size() && (line[end] == ':' || line[end] == '[');
    if (!closes || at < 2 || line[at - 1] != ' ') continue;
    std::size_t start = at - 1;
    while (start > 0 && is_host_character(line[start - 1])) --start;
    const std::string_view host = line.substr(start, at - 1 - start);
    // After a time of day, so that no other word is taken for a host.
    const bool placed = start == 0 || (start >= 2 && line[start - 1] == ' ');
    if (placed && !host.empty()) return host;
  }
  return {};
}

KernelLine parse_kernel_line(std::string_view line) {
  if (auto kmsg = parse_kmsg(trim(line))) return *kmsg;
  KernelLine parsed{{}, std::nullopt, trim(line)};
  const std::size_t mark = line.substr(0, 200).find("kernel:");
  if (mark != std::string_view::npos && (mark == 0 || line[mark - 1] == ' ')) {
    parsed.host = journal_host(line, "kernel");
    parsed.text = trim(line.substr(mark + 7));
  }
  take_time(parsed);
  return parsed;
}

void add_kernel_parameters(SignalSink& sink, std::string_view command_line) {
  for (std::string_view word : split_words(command_line)) {
    while (!word.empty() && (word.front() == '"' || word.front() == '\'')) word.remove_prefix(1);
    while (!word.empty() && (word.back() == '"' || word.back() == '\'')) word.remove_suffix(1);
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    const bool has_value = equals != std::string_view::npos;
    sink.raw("kernel.parameter", word.substr(0, equals),
             has_value ? word.substr(equals + 1) : std::string_view());
  }
}

}  // namespace isleway::formats
