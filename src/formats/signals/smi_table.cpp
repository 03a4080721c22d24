// The overview that `nvidia-smi` prints.
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

/// The cells between bars, trimmed.
std::vector<std::string_view> cells_of(std::string_view line) {
  line = trim(line);
  if (!line.starts_with("|") || line.size() < 4) return {};
  std::vector<std::string_view> cells;
  for (const std::string_view cell : split(line.substr(1), '|')) cells.push_back(trim(cell));
  if (!cells.empty() && cells.back().empty()) cells.pop_back();
  return cells;
}

class TableReader {
 public:
  explicit TableReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      sink_.at(i);
      const std::string_view line = sink_.line(i);
      take_versions(line);
      if (contains(line, "Processes:")) in_processes_ = true;
      if (in_processes_) continue;
      const auto cells = cells_of(line);
      if (cells.size() < 3) continue;
      if (take_first(cells, i)) continue;
      if (line_of_gpu_ > 0) take_later(cells);
    }
    if (gpus_ == 0) return;
    sink_.at(first_);
    sink_.number("gpu.count", "", gpus_);
  }

 private:
  void take_versions(std::string_view line) {
    if (!contains(line, "NVIDIA-SMI ")) return;
    sink_.text("driver.version", "", first_word(after(line, "Driver Version: ")));
    sink_.text("cuda.version", "", first_word(after(line, "CUDA Version: ")));
  }

  /// "0  NVIDIA H100 80GB HBM3   On | 00000000:1B:00.0 Off |    0"
  bool take_first(const std::vector<std::string_view>& cells, std::size_t i) {
    const std::string_view address = find_bus_address(cells[1]);
    const std::string_view index = first_word(cells[0]);
    if (address.empty() || !parse_int(index)) return false;
    gpu_ = gpu_name(index);
    line_of_gpu_ = 1;
    if (gpus_++ == 0) first_ = i;
    std::string_view name = trim(cells[0].substr(index.size()));
    if (const std::size_t gap = name.find("  "); gap != std::string_view::npos)
      name = name.substr(0, gap);
    for (const char* mode : {" On", " Off"})
      if (name.ends_with(mode))
        name = trim(name.substr(0, name.size() - std::string_view(mode).size()));
    // Long names are cut with dots: they still name the product's family.
    sink_.text("gpu.name", gpu_, name);
    sink_.text("gpu.bus_id", gpu_, bus_address(address));
    if (contains(cells[1], "ERR!") || contains(cells[0], "ERR!"))
      sink_.text("gpu.error", gpu_, "ERR!");
    if (parse_int(cells[2])) sink_.measure("ecc.uncorrected", gpu_, cells[2], "total");
    return true;
  }

  /// The second line has temperature, power and memory; the third the MIG mode.
  void take_later(const std::vector<std::string_view>& cells) {
    ++line_of_gpu_;
    if (line_of_gpu_ == 2) {
      if (contains(cells[0], "ERR!")) sink_.text("gpu.error", gpu_, "ERR!");
      for (const std::string_view word : split_words(cells[0])) {
        if (word.size() < 5 && word.ends_with("C")) sink_.measure("gpu.temperature_C", gpu_, word);
        if (word.size() == 2 && word[0] == 'P') sink_.text("gpu.pstate", gpu_, word);
      }
      if (contains(cells[1], "MiB")) {
        sink_.measure("gpu.memory_used_MiB", gpu_, cells[1]);
        sink_.measure("gpu.memory_MiB", gpu_, after(cells[1], "/"));
      }
      if (contains(cells[2], "%")) sink_.measure("gpu.utilization_percent", gpu_, cells[2]);
    } else if (line_of_gpu_ == 3) {
      const std::string_view mig = cells.back();
      if (mig == "Enabled" || mig == "Disabled" || mig == "N/A") sink_.text("mig.mode", gpu_, mig);
      line_of_gpu_ = 0;
    }
  }

  SignalSink& sink_;
  std::string gpu_;
  int line_of_gpu_ = 0, gpus_ = 0;
  std::size_t first_ = 0;
  bool in_processes_ = false;
};

int recognise(const TextIndex& text) {
  return text.has("| NVIDIA-SMI ") || text.has("Volatile Uncorr. ECC") ? 90 : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  TableReader(sink).read();
}

}  // namespace

extern const SignalReader smi_table_signals;
const SignalReader smi_table_signals = {"smi-table", "nvidia-smi", recognise, read};

}  // namespace isleway::formats
