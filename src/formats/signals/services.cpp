// Services: systemctl status and is-active of fabric manager and IMEX, nvidia-imex-ctl.
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

/// "fm" or "imex" for a text that names the service, else empty.
std::string_view service_in(std::string_view text) {
  if (contains(text, "fabricmanager") || contains(text, "fabric manager")) return "fm";
  if (contains(text, "nvidia-imex")) return "imex";
  return {};
}

std::string signal_of(std::string_view service, std::string_view what) {
  return std::string(service) + "." + std::string(what);
}

class ServiceReader {
 public:
  explicit ServiceReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    const std::string_view first = sink_.line(0);
    if (first.starts_with("$ ") && contains(first, "systemctl")) {
      service_ = service_in(first);
      is_active_ = contains(first, "is-active");
    }
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      sink_.at(i);
      const std::string_view line = trim(sink_.line(i));
      take_unit(line);
      take_domain(line);
    }
  }

 private:
  void take_unit(std::string_view line) {
    const std::string_view named = service_in(line);
    if (contains(line, ".service") && !named.empty()) service_ = named;
    if (service_.empty()) return;
    if (contains(line, "could not be found") || contains(line, "not-found"))
      return sink_.text(signal_of(service_, "service"), "", "not found");
    if (line.starts_with("Active: ")) {
      const std::string_view state = line.substr(8);
      const std::size_t end = state.find(')');
      sink_.text(signal_of(service_, "service"), "",
                 end == std::string_view::npos ? first_word(state) : state.substr(0, end + 1));
      sink_.text(signal_of(service_, "started_at"), "", before(after(state, "since "), ";"));
      return;
    }
    static constexpr std::string_view states[] = {"active", "inactive", "failed", "activating",
                                                  "unknown"};
    for (const std::string_view state : states)
      if (is_active_ && line == state) sink_.text(signal_of(service_, "service"), "", state);
  }

  /// nvidia-imex-ctl -N: "Domain State: UP", "Node #0 - 10.0.0.1 - READY - Version: 580.65.06"
  void take_domain(std::string_view line) {
    if (line.starts_with("Domain State:")) return sink_.text("imex.domain", "", line.substr(13));
    if (line.starts_with("Node #")) {
      const std::string_view rest = after(line, " - ");
      const std::string_view node = trim(before(rest, " - "));
      std::string_view state = first_word(after(rest, " - "));
      while (state.starts_with("*")) state = trim(state.substr(1));
      if (node.empty() || state.empty()) return;
      sink_.text("imex.node", before(node, "*"), state);
      sink_.text("imex.version", before(node, "*"), first_word(after(line, "Version: ")));
    }
    if (contains(line, "IMEX version is: ")) sink_.text("imex.version", "", after(line, "is: "));
  }

  SignalSink& sink_;
  std::string_view service_;
  bool is_active_ = false;
};

int recognise(const TextIndex& text) {
  if (text.has(".service") || text.has("Domain State:") || text.has("IMEX version") ||
      text.has("systemctl"))
    return service_in(text.text()).empty() && !text.has("Domain State:") ? 0 : 80;
  return 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  ServiceReader(sink).read();
}

}  // namespace

extern const SignalReader services_signals;
const SignalReader services_signals = {"services", "systemctl, nvidia-imex-ctl", recognise, read};

}  // namespace isleway::formats
