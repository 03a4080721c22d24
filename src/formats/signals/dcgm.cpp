// dcgmi: nvlink -s and -e, health -c, diag (text and JSON).
#include <nlohmann/json.hpp>

#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

/// "| a | b |" without bars and blanks; empty for rulers and other lines.
std::vector<std::string_view> cells_of(std::string_view line) {
  line = trim(line);
  if (!line.starts_with("|") || !line.ends_with("|") || line.size() < 3) return {};
  std::vector<std::string_view> cells;
  for (const std::string_view cell : split(line.substr(1, line.size() - 2), '|'))
    cells.push_back(trim(cell));
  return cells;
}

/// "U U U D X _" and nothing else.
bool is_link_row(std::string_view line) {
  const auto words = split_words(line);
  if (words.empty()) return false;
  for (const std::string_view word : words)
    if (word.size() != 1 || std::string_view("UDX_").find(word[0]) == std::string_view::npos)
      return false;
  return true;
}

class DcgmReader {
 public:
  explicit DcgmReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      const std::string_view line = sink_.line(i);
      sink_.at(i);
      take_link_status(line);
      take_table(line);
    }
    close_switches();
  }

 private:
  /// "gpuId 3:" and then one letter a link.
  void take_link_status(std::string_view line) {
    const std::string_view text = trim(line);
    if (text.starts_with("gpuId ") && text.ends_with(":")) {
      device_ = gpu_name(between(text, "gpuId ", ":"));
    } else if ((text.starts_with("physicalId ") || text.starts_with("nvSwitchId ")) &&
               text.ends_with(":")) {
      device_ = "nvswitch" + std::string(trim(before(after(text, " "), ":")));
      ++switches_;
    } else if (contains(text, "No NvSwitches found")) {
      sink_.number("dcgm.no_nvswitch", "", 1);
      device_.clear();
    } else if (!device_.empty() && is_link_row(text)) {
      take_links(split_words(text));
    }
  }

  void take_links(const std::vector<std::string_view>& states) {
    int active = 0, listed = 0;
    for (std::size_t link = 0; link < states.size(); ++link) {
      const char letter = states[link][0];
      const char* state = letter == 'U'   ? "active"
                          : letter == 'D' ? "inactive"
                          : letter == 'X' ? "disabled"
                                          : "unsupported";
      sink_.text("nvlink.state", gpu_link_name(device_, std::to_string(link)), state);
      active += letter == 'U' ? 1 : 0;
      listed += letter == '_' ? 0 : 1;
    }
    sink_.number("nvlink.active", device_, active);
    sink_.number("nvlink.listed", device_, listed);
    device_.clear();
  }

  void close_switches() {
    if (switches_ > 0) sink_.number("nvswitch.count", "", switches_);
  }

  /// Of health -c: a system and its state, with messages below; of diag: a test and its result.
  void take_table(std::string_view line) {
    const auto cells = cells_of(line);
    // "| GPU 0   |": whose counters follow
    if (cells.size() == 1 && cells[0].starts_with("GPU ") && parse_int(cells[0].substr(4))) {
      gpu_ = gpu_name(cells[0].substr(4));
      link_.clear();
    }
    if (cells.size() != 2) return;
    std::string_view left = cells[0];
    const std::string_view right = cells[1];
    if (left.empty()) {
      take_message(right);
      return;
    }
    while (left.starts_with("-> ") || left.starts_with("->")) left = trim(left.substr(2));
    static constexpr std::string_view healths[] = {"Healthy", "Warning", "Failure"};
    static constexpr std::string_view results[] = {"Pass", "Fail", "Skip", "Warn"};
    for (const std::string_view word : healths)
      if (right == word) return take_health(left, right);
    for (const std::string_view word : results)
      if (right == word || right.starts_with(std::string(word) + " ")) {
        test_ = left;
        return take_result(left, word, right);
      }
    for (const std::string_view word : {"Error", "Warning", "Info"})
      if (left == word || left.starts_with(std::string(word) + ":")) {
        // "Warning: GPU 3"
        if (const auto gpu = leading_number(after(left, "GPU")))
          gpu_ = gpu_name(before(trim(after(left, "GPU")), " "));
        take_message(right);
      }
    if (left.starts_with("Link ")) link_ = gpu_link_name(gpu_, left.substr(5));
    if (left == "DCGM Version") sink_.text("dcgm.version", "", right);
    if (left == "Driver Version Detected") sink_.text("driver.version", "", right);
    take_counter(left, right);
  }

  /// "Fail", "Fail - GPU: 3", "Fail - GPUs: 1, 2", "Pass - All"
  void take_result(std::string_view test, std::string_view word, std::string_view result) {
    const std::string_view gpus = after(after(result, "GPU"), ":");
    if (gpus.empty()) return sink_.text("dcgm.diag", test, word);
    for (const std::string_view gpu : split(gpus, ','))
      sink_.text("dcgm.diag", test, word, gpu_name(gpu));
  }

  void take_health(std::string_view what, std::string_view state) {
    if (what == "Overall Health") {
      gpu_.clear();
      return sink_.text("dcgm.health", "", state, "overall");
    }
    if (what.starts_with("GPU ") || parse_int(what)) {
      gpu_ = gpu_name(what.starts_with("GPU ") ? what.substr(4) : what);
      return sink_.text("dcgm.health", gpu_, state);
    }
    if (what.ends_with(" system")) what.remove_suffix(7);
    sink_.text("dcgm.health", gpu_, state, what);
  }

  /// "GPU 0's NvLink link 3 is currently down"
  void take_message(std::string_view text) {
    if (text.empty() || text.starts_with("---") || text.starts_with("===")) return;
    sink_.text("dcgm.message", gpu_, text, test_);
    const auto gpu = leading_number(after(text, "GPU "));
    const std::string_view link = after(text, "NvLink link ");
    if (gpu && leading_number(link) && contains(text, "down"))
      sink_.text("nvlink.state",
                 gpu_link_name(gpu_name(before(after(text, "GPU "), "'")), first_word(link)),
                 "inactive");
  }

  /// `dcgmi nvlink -e`: below "| Link 3 | |" stand "| -> Replay Error | 0 |" and the like.
  void take_counter(std::string_view left, std::string_view right) {
    static constexpr std::pair<std::string_view, std::string_view> counters[] = {
        {"CRC FLIT Error", "nvlink.crc_errors"},
        {"CRC Data Error", "nvlink.crc_data_errors"},
        {"Replay Error", "nvlink.replay_errors"},
        {"Recovery Error", "nvlink.recovery_errors"}};
    for (const auto& [title, signal] : counters)
      if (left.starts_with(title)) sink_.measure(signal, link_.empty() ? gpu_ : link_, right);
  }

  SignalSink& sink_;
  std::string device_, gpu_, link_, test_;
  int switches_ = 0;
};

/// `dcgmi diag -j`: categories of tests with results by GPU.
class DiagJsonReader {
  using Json = nlohmann::json;

 public:
  DiagJsonReader(SignalSink& sink, const Json& root) : sink_(sink), root_(root) {}

  void read() {
    for (const char* key : {"DCGM GPU Diagnostic", "DCGM Diagnostic"})
      if (const auto found = root_.find(key); found != root_.end() && found->is_object())
        take(*found);
  }

 private:
  static std::string text_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  }

  void take(const Json& diagnostic) {
    const auto categories = diagnostic.find("test_categories");
    if (categories == diagnostic.end() || !categories->is_array()) return;
    for (const Json& category : *categories) {
      if (!category.is_object()) continue;
      const auto tests = category.find("tests");
      if (tests == category.end() || !tests->is_array()) continue;
      for (const Json& test : *tests)
        if (test.is_object()) take_test(test);
    }
  }

  void take_test(const Json& test) {
    const std::string name = text_of(test, "name");
    const auto results = test.find("results");
    if (name.empty() || results == test.end() || !results->is_array()) return;
    at_name(name);
    for (const Json& result : *results) {
      if (!result.is_object()) continue;
      std::string gpu = text_of(result, "gpu_id");
      if (gpu.empty()) gpu = text_of(result, "gpu_ids");
      if (const auto id = result.find("entity_id"); id != result.end() && id->is_number_integer())
        gpu = std::to_string(id->get<std::int64_t>());
      const bool one = !gpu.empty() && gpu.find_first_not_of("0123456789") == std::string::npos;
      const std::string peer = one ? gpu_name(gpu) : std::string();
      sink_.text("dcgm.diag", name, text_of(result, "status"), peer);
      for (const char* key : {"warnings", "info"}) take_messages(result, key, peer, name);
    }
  }

  void take_messages(const Json& result, const char* key, const std::string& gpu,
                     const std::string& test) {
    const auto found = result.find(key);
    if (found == result.end() || std::string_view(key) == "info") return;
    if (found->is_string()) sink_.text("dcgm.message", gpu, found->get<std::string>(), test);
    if (!found->is_array()) return;
    for (const Json& one : *found) {
      if (one.is_string()) sink_.text("dcgm.message", gpu, one.get<std::string>(), test);
      if (one.is_object()) sink_.text("dcgm.message", gpu, text_of(one, "warning"), test);
    }
  }

  /// JSON has no lines: the one that names the test. Tests stand in order, so that none is looked
  /// for before the last.
  void at_name(const std::string& name) {
    const std::string quoted = "\"" + name + "\"";
    for (std::size_t i = line_; i < sink_.size() && misses_ < kMostMisses; ++i)
      if (contains(sink_.line(i), quoted)) return sink_.at(line_ = i);
    ++misses_;
    sink_.at(line_);
  }

  static constexpr int kMostMisses = 100;

  SignalSink& sink_;
  const Json& root_;
  std::size_t line_ = 0;
  int misses_ = 0;
};

/// Depth is bounded before parsing: the parser's own stack is not.
bool is_deep(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > 64) return true;
  }
  return false;
}

int recognise(const TextIndex& text) {
  for (const char* mark :
       {"gpuId ", "Overall Health", "NvLink Link Status", "NVLINK system", "No NvSwitches found",
        "NvLink system", "\"DCGM GPU Diagnostic\"", "\"DCGM Diagnostic\"", "dcgmi diag",
        "| Diagnostic", "NVLINK Error Counts"})
    if (text.has(mark)) return 90;
  return 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  if (contains(text, "Diagnostic\"")) {
    const std::size_t start = text.find('{'), end = text.rfind('}');
    if (start == std::string_view::npos || end == std::string_view::npos || end < start) return;
    const std::string_view object = text.substr(start, end - start + 1);
    constexpr std::size_t kMostBytes = std::size_t{16} << 20;
    if (object.size() > kMostBytes || is_deep(object)) {
      notices.skipped(from, "JSON that is larger or deeper than dcgmi diag makes it");
      return;
    }
    const auto json = nlohmann::json::parse(object, nullptr, false);
    if (json.is_object()) DiagJsonReader(sink, json).read();
    else notices.incomplete(from, "the JSON of dcgmi diag is cut or damaged");
    return;
  }
  DcgmReader(sink).read();
}

}  // namespace

extern const SignalReader dcgm_signals;
const SignalReader dcgm_signals = {"dcgm", "dcgmi nvlink, health, diag", recognise, read};

}  // namespace isleway::formats
