// `nvidia-smi -q`, whole or in part (-d, grep): headings and keys by indentation.
#include <unordered_map>

#include "formats/smi_fields.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

using FieldsByPath = std::unordered_map<std::string_view, const SmiField*>;

FieldsByPath fields_by_path() {
  FieldsByPath fields;
  for (const SmiField& field : smi_fields())
    if (*field.text) fields.emplace(field.text, &field);
  return fields;
}

/// Keys that mean one thing wherever they stand, as `grep` leaves them.
constexpr std::pair<std::string_view, std::string_view> kPlain[] = {
    {"CliqueId", "Fabric/CliqueId"},
    {"ClusterUUID", "Fabric/ClusterUUID"},
    {"Bus Id", "PCI/Bus Id"},
    {"Replays Since Reset", "PCI/Replays Since Reset"},
};

class SmiQueryReader {
 public:
  explicit SmiQueryReader(SignalSink& sink) : sink_(sink), fields_(fields_by_path()) {}

  void read() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      const std::string_view line = sink_.line(i);
      if (trim(line).empty()) continue;
      sink_.at(i);
      if (const auto pair = split_pair(line)) take(*pair, indent_of(line));
      else take_heading(line);
    }
  }

 private:
  struct Heading {
    std::size_t indent;
    std::string_view title;
  };

  static std::size_t indent_of(std::string_view line) {
    std::size_t columns = 0;
    for (const char c : line) {
      if (c == '\t') columns += 8 - columns % 8;
      else if (c == ' ') ++columns;
      else break;
    }
    return columns;
  }

  /// "Key    : value": the colon stands after a blank, unlike those of times and addresses.
  static std::optional<KeyValue> split_pair(std::string_view line) {
    const std::size_t colon = line.find(" :");
    if (colon != std::string_view::npos &&
        (colon + 2 == line.size() || line[colon + 2] == ' ' || line[colon + 2] == '\t'))
      return KeyValue{trim(line.substr(0, colon)), trim(line.substr(colon + 2))};
    return std::nullopt;
  }

  /// "GPU 00000000:53:00.0", "Fabric"
  void take_heading(std::string_view line) {
    const std::string_view title = trim(line);
    const std::string_view address =
        title.starts_with("GPU ") ? find_bus_address(title.substr(4)) : std::string_view();
    if (!address.empty() && title.substr(4) == address) {
      gpu_ = gpu_name(std::to_string(next_gpu_++));
      headings_.clear();
      has_error_ = false;
      sink_.text("gpu.bus_id", gpu_, bus_address(address));
      return;
    }
    const std::size_t indent = indent_of(line);
    while (!headings_.empty() && headings_.back().indent >= indent) headings_.pop_back();
    headings_.push_back({indent, title});
  }

  void take(const KeyValue& pair, std::size_t indent) {
    if (pair.key == "Driver Version") return sink_.text("driver.version", "", pair.value);
    if (pair.key == "CUDA Version") return sink_.text("cuda.version", "", pair.value);
    if (pair.key == "Attached GPUs") {
      sink_.measure("gpu.count", "", pair.value);
      return;
    }
    if (const std::string_view error = smi_error(pair.value); !error.empty() && !has_error_) {
      sink_.text("gpu.error", gpu_, error);
      has_error_ = true;
    }
    // Without indentation the last heading is as good as there is.
    while (headings_.size() > 1 && indent > 0 && headings_.back().indent >= indent)
      headings_.pop_back();
    if (headings_.size() == 1 && indent > 0 && headings_.back().indent >= indent) headings_.clear();
    if (const SmiField* field = find(pair.key)) {
      // Addresses come with the heading of their GPU.
      if (field->kind != SmiField::Kind::bus || gpu_.empty())
        add_smi_field(sink_, *field, gpu_, pair.value);
    }
  }

  const SmiField* find(std::string_view key) {
    std::string_view title = headings_.empty() ? std::string_view() : headings_.back().title;
    if (title == "Clocks Throttle Reasons") title = "Clocks Event Reasons";
    path_.assign(title);
    path_ += '/';
    path_ += key;
    if (const auto found = fields_.find(path_); found != fields_.end()) return found->second;
    for (const auto& [plain, whole] : kPlain)
      if (plain == key) return fields_.find(whole)->second;
    const auto alone = fields_.find(std::string_view(path_).substr(title.size()));
    return alone == fields_.end() ? nullptr : alone->second;
  }

  SignalSink& sink_;
  FieldsByPath fields_;
  std::vector<Heading> headings_;
  std::string gpu_, path_;
  int next_gpu_ = 0;
  bool has_error_ = false;
};

int recognise(const TextIndex& text) {
  if (text.has("NVSMI LOG")) return 95;
  if (text.has("CliqueId") || text.has("ClusterUUID")) return 80;
  for (const char* mark :
       {"Product Name  ", "Attached GPUs", "PCIe Generation", "MIG Mode", "Remapped Rows",
        "Clocks Event Reasons", "Clocks Throttle Reasons", "Fabric\n", "ECC Mode"})
    if (text.has(mark)) return 70;
  return 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  if (contains(text, "<nvidia_smi_log")) return;
  SignalSink sink(text, from, signals, notices);
  SmiQueryReader(sink).read();
}

}  // namespace

extern const SignalReader smi_query_signals;
const SignalReader smi_query_signals = {"smi-query", "nvidia-smi -q", recognise, read};

}  // namespace isleway::formats
