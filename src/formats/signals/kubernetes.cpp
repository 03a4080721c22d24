// Kubernetes' nodes: kubectl get nodes (-o yaml, -o json, -L, --show-labels), describe, and
// lists of node, label, value. Line by line: clusters are large and pastes are cut.
#include <array>

#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

/// A node has a hundred labels; these say where it is and what GPUs it has.
bool is_of_interest(std::string_view label) {
  static constexpr std::array<std::string_view, 13> parts = {
      "nvidia.com/", "topology", "accelerator", "fabric", "nvlink",   "clique",   "instance-type",
      "hostname",    "gce-",     "oraclecloud", "rdma",   "mellanox", "topograph"};
  for (const std::string_view part : parts)
    if (contains(label, part)) return true;
  return false;
}

constexpr std::string_view kClique = "nvidia.com/gpu.clique";

class NodeReader {
 public:
  explicit NodeReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      const std::string_view line = sink_.line(i);
      if (trim(line).empty()) continue;
      if (take_heading(line) || take_row(line, i) || take_triple(line, i)) continue;
      take_structured(line, i);
    }
    flush({});
  }

 private:
  struct Label {
    std::string key, value;
    std::size_t line;
  };

  void add_label(std::string_view node, std::string_view key, std::string_view value,
                 std::size_t line) {
    if (!is_of_interest(key)) return;
    sink_.at(line, node);
    sink_.raw("k8s.label", key, value);
    if (key != kClique) return;
    // "<cluster UUID>.<clique>"
    const std::size_t dot = value.rfind('.');
    if (dot == std::string_view::npos) return sink_.skipped("a clique label without a clique");
    sink_.text("fabric.cluster_uuid", "", value.substr(0, dot));
    sink_.text("fabric.clique", "", value.substr(dot + 1));
  }

  // --- Tables -------------------------------------------------------------------------

  /// "NAME   STATUS   ROLES   AGE   VERSION   GPU.CLIQUE": cells stand under their titles.
  bool take_heading(std::string_view line) {
    if (!line.starts_with("NAME ") || !contains(line, "STATUS")) return false;
    columns_.clear();
    for (const std::string_view word : split_words(line))
      columns_.push_back({word, static_cast<std::size_t>(word.data() - line.data())});
    return true;
  }

  bool take_row(std::string_view line, std::size_t i) {
    if (columns_.empty() || line[0] == ' ') return false;
    const std::string_view node = first_word(line);
    for (std::size_t c = 1; c < columns_.size(); ++c) {
      const std::size_t start = columns_[c].second;
      if (start >= line.size()) break;
      const std::size_t end = c + 1 < columns_.size() ? columns_[c + 1].second : line.size();
      const std::string_view cell = trim(line.substr(start, end - start));
      const std::string_view title = columns_[c].first;
      if (title == "STATUS") {
        sink_.at(i, node);
        sink_.text("k8s.status", "", cell);
      } else if (title == "LABELS") {
        for (const std::string_view pair : split(cell, ','))
          add_label(node, before(pair, "="), after(pair, "="), i);
      } else if (equal_ignoring_case(title, "GPU.CLIQUE") || equal_ignoring_case(title, "CLIQUE")) {
        if (!cell.empty() && cell != "<none>") add_label(node, kClique, cell, i);
      } else if (!cell.empty() && cell != "<none>" && is_label_column(title)) {
        sink_.at(i, node);
        sink_.text("k8s.label", to_lower(title), cell);
      }
    }
    return true;
  }

  static bool is_label_column(std::string_view title) {
    static constexpr std::array<std::string_view, 9> own = {
        "ROLES",       "AGE",      "VERSION",        "INTERNAL-IP",
        "EXTERNAL-IP", "OS-IMAGE", "KERNEL-VERSION", "CONTAINER-RUNTIME",
        "STATUS"};
    for (const std::string_view word : own)
      if (title == word) return false;
    return true;
  }

  /// "gpu-node-001   nvidia.com/gpu.clique   <uuid>.0"
  bool take_triple(std::string_view line, std::size_t i) {
    const auto words = split_words(line);
    if (words.size() != 3 || !contains(words[1], "/") || !contains(words[1], ".") ||
        words[1].ends_with(":") || contains(words[0], ":"))
      return false;
    add_label(words[0], words[1], words[2], i);
    return true;
  }

  // --- YAML, JSON, describe --------------------------------------------------------------

  static std::string_view unquoted(std::string_view text) {
    text = trim(text);
    if (text.ends_with(",")) text.remove_suffix(1);
    if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0])
      text = text.substr(1, text.size() - 2);
    return text;
  }

  /// Labels come before the name of their node; `describe` has the name first.
  void take_structured(std::string_view line, std::size_t i) {
    const std::size_t indent = line.find_first_not_of(" \t");
    const std::string_view text = trim(line);
    if (text.starts_with("Name:") && indent == 0) {
      flush({});
      described_ = trim(text.substr(5));
    }
    if (text.starts_with("Labels:") && indent == 0) {
      in_describe_ = true;
      take_described(trim(text.substr(7)), i);
      return;
    }
    if (in_describe_) {
      if (indent > 0 && contains(text, "=")) return take_described(text, i);
      in_describe_ = false;
    }
    const auto pair = key_value(text);
    if (!pair) return;
    const std::string_view key = unquoted(pair->key), value = unquoted(pair->value);
    if (key == "labels" && (value.empty() || value == "{")) {
      in_labels_ = true;
      label_indent_ = indent;
    } else if (in_labels_ && indent > label_indent_) {
      if (is_of_interest(key) && labels_.size() < 1000)
        labels_.push_back({std::string(key), std::string(value), i});
    } else {
      in_labels_ = false;
      if (key == "name" && indent == label_indent_ && !labels_.empty()) flush(value);
      if (equal_ignoring_case(key, "capacity")) is_capacity_ = true;
      if (equal_ignoring_case(key, "allocatable")) is_capacity_ = false;
      if (contains(key, "nvidia.com/gpu") || contains(key, "rdma/")) {
        sink_.at(i, last_.empty() ? described_ : last_);
        sink_.measure(is_capacity_ ? "k8s.capacity" : "k8s.allocatable", key, value);
      }
    }
  }

  void take_described(std::string_view pair, std::size_t i) {
    add_label(described_, before(pair, "="), after(pair, "="), i);
  }

  void flush(std::string_view node) {
    for (const Label& label : labels_) add_label(node, label.key, label.value, label.line);
    labels_.clear();
    if (!node.empty()) last_ = node;
  }

  SignalSink& sink_;
  std::vector<std::pair<std::string_view, std::size_t>> columns_;
  std::vector<Label> labels_;
  std::string described_, last_;
  std::size_t label_indent_ = 0;
  bool in_labels_ = false, in_describe_ = false, is_capacity_ = false;
};

int recognise(const TextIndex& text) {
  if (text.has(kClique)) return 90;
  if (text.has("kind: Node") || text.has("\"kind\": \"Node\"")) return 90;
  if (text.has("NAME ") && text.has("STATUS")) return 70;
  if (text.has("Allocatable:") && text.has("nvidia.com/")) return 70;
  return text.has("kubernetes.io/") || text.has("topograph.run/") || text.has("\tnvidia.com/") ? 70
                                                                                               : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  NodeReader(sink).read();
}

}  // namespace

extern const SignalReader kubernetes_signals;
const SignalReader kubernetes_signals = {"kubernetes", "Kubernetes' nodes and labels", recognise,
                                         read};

}  // namespace isleway::formats
