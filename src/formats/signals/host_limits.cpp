// Room and limits: df of /dev/shm, ulimit -a, /proc/self/limits.
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

/// "64M", "1.5G", "65536k", "67108864" in units of `unit` bytes where none is printed; in
/// 10^6 bytes. df's letters are powers of 1024.
std::optional<double> megabytes(std::string_view text, double unit) {
  const auto number = leading_number(text);
  if (!number) return std::nullopt;
  double factor = unit;
  const std::size_t letter = text.find_first_of("kKMGTP");
  if (letter != std::string_view::npos) {
    factor = 1024;
    for (const char step : std::string_view("kMGTP")) {
      if (text[letter] == step || (step == 'k' && text[letter] == 'K')) break;
      factor *= 1024;
    }
  }
  return *number * factor * 1e-6;
}

/// "tmpfs   64M   0   64M   0% /dev/shm"
void take_df(SignalSink& sink, std::string_view line, double unit) {
  const auto words = split_words(line);
  if (words.size() < 6 || words.back() != "/dev/shm") return;
  const std::size_t n = words.size();
  if (const auto size = megabytes(words[n - 5], unit)) sink.number("shm.size_MB", "", *size);
  if (const auto rest = megabytes(words[n - 3], unit)) sink.number("shm.available_MB", "", *rest);
  if (words[n - 2].ends_with("%")) sink.measure("shm.used_percent", "", words[n - 2]);
}

/// "shm on /dev/shm type tmpfs (rw,nosuid,size=65536k)"
void take_mount(SignalSink& sink, std::string_view line) {
  if (!contains(line, "/dev/shm") || !contains(line, "size=")) return;
  const std::string_view size = before(before(after(line, "size="), ","), ")");
  if (const auto value = megabytes(size, 1)) sink.number("shm.size_MB", "", *value);
}

struct Limit {
  std::string_view printed, signal;
};
constexpr Limit kLimits[] = {
    {"max locked memory", "limit.memlock_KB"}, {"open files", "limit.open_files"},
    {"max open files", "limit.open_files"},    {"stack size", "limit.stack_KB"},
    {"max stack size", "limit.stack_KB"},      {"max user processes", "limit.processes"},
    {"max processes", "limit.processes"}};

/// "max locked memory  (kbytes, -l) unlimited"; /proc has bytes: soft, then hard.
void take_limit(SignalSink& sink, std::string_view line) {
  const std::string lower = to_lower(trim(line));
  for (const Limit& limit : kLimits) {
    if (!lower.starts_with(limit.printed)) continue;
    const std::string_view rest = std::string_view(lower).substr(limit.printed.size());
    const bool shell = contains(rest, "(");
    const std::string_view value = first_word(shell ? after(rest, ")") : rest);
    if (value == "unlimited") return sink.number(limit.signal, "", -1);
    const auto number = parse_double(value);
    if (!number) return;
    const bool bytes = !shell && limit.signal.ends_with("_KB");
    return sink.number(limit.signal, "", bytes ? *number / 1024 : *number);
  }
}

int recognise(const TextIndex& text) {
  return text.has("/dev/shm") || text.has("max locked memory") || text.has("Max locked memory") ||
                 text.has("open files")
             ? 70
             : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  double unit = 1024;
  for (std::size_t i = 0; i < sink.size(); ++i) {
    const std::string_view line = sink.line(i);
    sink.at(i);
    if (contains(line, "1M-blocks")) unit = 1024.0 * 1024;
    if (contains(line, "1B-blocks")) unit = 1;
    take_df(sink, line, unit);
    take_mount(sink, line);
    take_limit(sink, line);
  }
}

}  // namespace

extern const SignalReader host_limits_signals;
const SignalReader host_limits_signals = {"host-limits", "df of /dev/shm, ulimit", recognise, read};

}  // namespace isleway::formats
