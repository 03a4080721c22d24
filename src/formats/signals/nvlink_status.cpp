// `nvidia-smi nvlink`: -s (rates), -c (capabilities), -e (errors), -R (remote ends), and -L's
// list of GPUs, whose heading they share.
#include "formats/signal_sink.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

/// "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-...)"; also what scripts make of it.
struct GpuHeading {
  std::string_view index, name, uuid;
  bool lists_inactive = false;  ///< "GPU 0 has nvlinks inactive:": the others are left out
};
std::optional<GpuHeading> gpu_heading(std::string_view line) {
  line = trim(line);
  if (!line.starts_with("GPU ")) return std::nullopt;
  const std::size_t end = line.find_first_not_of("0123456789", 4);
  if (end == 4 || end == std::string_view::npos) return std::nullopt;
  GpuHeading heading{line.substr(4, end - 4), {}, {}};
  if (line[end] == ':') heading.name = trim(before(line.substr(end + 1), "(UUID"));
  else if (contains(to_lower(line), "nvlinks inactive")) heading.lists_inactive = true;
  else return std::nullopt;
  heading.uuid = between(line, "(UUID: ", ")");
  return heading;
}

/// "Link 3: 26.562 GB/s", "Link 3, P2P is supported: true", also behind other words.
struct LinkLine {
  std::string_view index, text;
  char separator;
  std::string_view rest;  ///< where another one may follow
};
std::optional<LinkLine> link_line(std::string_view line) {
  for (std::size_t at = line.find("Link "); at != std::string_view::npos;
       at = line.find("Link ", at + 1)) {
    const std::size_t start = at + 5;
    const std::size_t end = line.find_first_not_of("0123456789", start);
    if (end == start || end == std::string_view::npos || end - start > 3) continue;
    if (line[end] != ':' && line[end] != ',') continue;
    constexpr std::size_t kMostText = 200;
    const std::string_view rest = line.substr(end + 1);
    return LinkLine{line.substr(start, end - start), trim(rest.substr(0, kMostText)), line[end],
                    rest};
  }
  return std::nullopt;
}

struct Counter {
  std::string_view words, signal;
};
/// As drivers from 418 to 580 title them, lower case.
constexpr Counter kCounters[] = {
    {"replay errors", "nvlink.replay_errors"},
    {"recovery errors", "nvlink.recovery_errors"},
    {"crc errors", "nvlink.crc_errors"},
    {"crc flit errors", "nvlink.crc_errors"},
    {"crc data errors", "nvlink.crc_data_errors"},
    {"malformed packet errors", "nvlink.malformed_errors"},
    {"buffer overrun errors", "nvlink.overrun_errors"},
    {"rx errors", "nvlink.rx_errors"},
    {"rx remote errors", "nvlink.remote_errors"},
    {"rx general errors", "nvlink.rx_general_errors"},
    {"local link integrity errors", "nvlink.integrity_errors"},
    {"tx discards", "nvlink.tx_discards"},
    {"link recovery successful events", "nvlink.recoveries"},
    {"link recovery failed events", "nvlink.recoveries_failed"},
    {"total link recovery events", "nvlink.recoveries_total"},
    {"effective errors", "nvlink.effective_errors"},
    {"effective ber", "nvlink.effective_ber"},
    {"symbol errors", "nvlink.symbol_errors"},
    {"symbol ber", "nvlink.symbol_ber"},
};

class NvlinkReader {
 public:
  explicit NvlinkReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      const std::string_view line = sink_.line(i);
      sink_.at(i);
      if (const auto heading = gpu_heading(line)) begin(*heading, i);
      auto link = link_line(line);
      if (!link) take_message(line, i);
      // Reports put several on one line: "Link 3: <inactive>, Link 5: <inactive>".
      for (; link; link = link_line(link->rest)) take(*link, i);
    }
    close();
  }

 private:
  struct Count {
    std::size_t line = 0;
    bool lists_inactive = false, without_heading = false;
    int listed = 0, active = 0;
  };

  void begin(const GpuHeading& heading, std::size_t i) {
    close();
    sink_.at(i);
    gpu_ = gpu_name(heading.index);
    count_ = {i, heading.lists_inactive, false, 0, 0};
    sink_.text("gpu.name", gpu_, heading.name);
    if (heading.uuid.starts_with("GPU-")) sink_.text("gpu.uuid", gpu_, heading.uuid);
  }

  void close() {
    if (count_.listed == 0) return;
    sink_.at(count_.line);
    if (count_.lists_inactive || (count_.without_heading && count_.active == 0)) {
      sink_.number("nvlink.inactive", gpu_, count_.listed - count_.active);
    } else {
      sink_.number("nvlink.active", gpu_, count_.active);
      sink_.number("nvlink.listed", gpu_, count_.listed);
    }
    count_ = {};
  }

  void take(const LinkLine& link, std::size_t i) {
    if (gpu_.empty()) {  // `nvlink -i 0` of old drivers has no heading
      gpu_ = "gpu0";
      count_ = {i, false, true, 0, 0};
      sink_.assumed("links without a heading that names their GPU: taken for GPU 0's");
    }
    const std::string subject = gpu_link_name(gpu_, link.index);
    if (link.separator == ',') return take_capability(subject, link.text);
    const std::string lower = to_lower(link.text);
    if (lower.starts_with("<inactive>") || lower.starts_with("inactive"))
      return take_state(subject, "inactive");
    if (lower.starts_with("<disabled>") || lower.starts_with("disabled"))
      return take_state(subject, "disabled");
    if (lower.starts_with("remote device")) return take_remote(subject, link.text);
    if (contains(link.text, "GB/s")) {
      const auto rate = leading_number(link.text);
      if (!rate) return sink_.skipped("a link's rate that is no number");
      sink_.number("nvlink.rate_GBs", subject, *rate);
      return take_state(subject, "active");
    }
    take_counter(subject, lower);
  }

  void take_state(const std::string& subject, std::string_view state) {
    sink_.text("nvlink.state", subject, state);
    ++count_.listed;
    if (state == "active") ++count_.active;
  }

  void take_capability(const std::string& subject, std::string_view text) {
    // "P2P is supported: true", "Access to system memory supported: true"
    const auto pair = key_value(text);
    if (!pair || (pair->value != "true" && pair->value != "false")) return;
    std::string_view what = before(pair->key, " supported");
    if (what.ends_with(" is")) what.remove_suffix(3);
    sink_.number("nvlink.capability", subject, pair->value == "true" ? 1 : 0, what);
  }

  /// "Remote Device 00000000:07:00.0: Link 46"
  void take_remote(const std::string& subject, std::string_view text) {
    const std::string_view address = find_bus_address(text);
    const auto link = leading_number(after(text, ": Link "));
    if (!address.empty() && link)
      sink_.number("nvlink.remote", subject, *link, bus_address(address));
  }

  void take_counter(const std::string& subject, std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return;
    const std::string_view title = trim(text.substr(0, colon));
    const std::string_view value = trim(text.substr(colon + 1));
    for (const Counter& counter : kCounters)
      if (title == counter.words) {
        sink_.measure(counter.signal, subject, value);
        return;
      }
    if (title.starts_with("fec errors")) {
      const std::string_view bin = trim(after(title, "-"));
      if (!bin.empty()) sink_.measure("nvlink.fec_errors", subject, value, bin);
    }
  }

  /// One sentence in place of a list of links.
  void take_message(std::string_view line, std::size_t i) {
    const std::string lower = to_lower(line);
    if (!contains(lower, "nvlink")) return;
    std::string_view message;
    if (contains(lower, "all links are inactive")) message = "all inactive";
    else if (contains(lower, "does not have or support")) message = "no NVLink";
    else if (contains(lower, "not supported") && contains(lower, "mig mode")) message = "MIG mode";
    else if (trim(lower).starts_with("nvlink") && contains(lower, "not supported"))
      message = "not supported";
    if (message.empty()) return;
    sink_.at(i);
    sink_.text("nvlink.message", gpu_, message);
    if (message == "all inactive") sink_.number("nvlink.active", gpu_, 0);
  }

  SignalSink& sink_;
  std::string gpu_;
  Count count_;
};

/// "MIG 1g.18gb     Device  3: (UUID: MIG-...)" under a GPU of `nvidia-smi -L`.
void read_list(SignalSink& sink) {
  std::string gpu;
  std::size_t gpus = 0, first = 0;
  for (std::size_t i = 0; i < sink.size(); ++i) {
    if (const auto heading = gpu_heading(sink.line(i)); heading && !heading->name.empty()) {
      gpu = gpu_name(heading->index);
      if (gpus++ == 0) first = i;
    }
    const auto words = split_words(sink.line(i));
    if (words.size() < 4 || words[0] != "MIG" || words[2] != "Device") continue;
    sink.at(i);
    sink.text("mig.device", gpu, words[1]);
  }
  bool is_list = gpus > 0;  // and nothing but GPUs and MIG devices
  for (const std::string_view line : sink.lines())
    is_list = is_list && !contains(to_lower(line), "nvlink") && !contains(line, "Link ");
  if (!is_list) return;
  sink.at(first);
  sink.number("gpu.count", "", static_cast<double>(gpus));
}

int recognise(const TextIndex& text) {
  if (text.has("(UUID: GPU-") || text.has("Nvlink") || text.has("NVLink info")) return 90;
  if (text.has("Link 0:") || text.has("Link 0,")) return 80;
  if (text.has("(UUID: ") && text.has("GPU ")) return 70;
  // A part of an output: links without the first, or GPUs without UUIDs.
  return text.has("GB/s") || text.has("nactive") || text.has("Recovery Errors:") ? 30 : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  NvlinkReader(sink).read();
  read_list(sink);
}

}  // namespace

extern const SignalReader nvlink_status_signals;
const SignalReader nvlink_status_signals = {"nvlink", "nvidia-smi nvlink, nvidia-smi -L", recognise,
                                            read};

}  // namespace isleway::formats
