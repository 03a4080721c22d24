// `nvidia-smi --query-gpu=... --format=csv`.
#include "formats/smi_fields.hpp"

namespace isleway::formats {
namespace {

/// "pcie.link.gen.current [unit]" without the unit.
std::string_view column_name(std::string_view title) { return trim(before(title, " [")); }

const SmiField* field_of(std::string_view column) {
  for (const SmiField& field : smi_fields())
    if (column == field.csv && *field.csv) return &field;
  return nullptr;
}

/// The columns of a heading: at least two that are known, and one that holds a dot or is
/// "name" or "index".
std::vector<const SmiField*> parse_heading(std::string_view line, int& index, int& driver) {
  std::vector<const SmiField*> fields;
  int known = 0;
  index = driver = -1;
  const auto titles = split(line, ',');
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const std::string_view name = column_name(titles[i]);
    fields.push_back(field_of(name));
    if (name == "index") index = static_cast<int>(i);
    if (name == "driver_version") driver = static_cast<int>(i);
    known += fields.back() || name == "index" || name == "driver_version" ? 1 : 0;
  }
  const bool believable = known >= 2 || (known == 1 && titles.size() == 1 && fields[0] &&
                                         contains(fields[0]->csv, "."));
  return believable ? fields : std::vector<const SmiField*>();
}

int recognise(const TextIndex& text) {
  for (const char* mark : {"fabric.s", "pcie.link", "pci.bus_id", "index, ", "uuid, ", "name, ",
                           "mig.mode", ", name", ", uuid"})
    if (text.has(mark)) return 70;
  return 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  std::vector<const SmiField*> fields;
  int index = -1, driver = -1, row = 0;
  for (std::size_t i = 0; i < sink.size(); ++i) {
    const std::string_view line = trim(sink.line(i));
    if (line.empty() || line.starts_with("$ ")) continue;
    int at_index = -1, at_driver = -1;
    if (auto heading = parse_heading(line, at_index, at_driver); !heading.empty()) {
      fields = std::move(heading);
      index = at_index;
      driver = at_driver;
      row = 0;
      continue;
    }
    const auto cells = split(line, ',');
    if (fields.empty() || cells.size() != fields.size()) {
      fields.clear();
      continue;
    }
    sink.at(i);
    const auto number =
        index >= 0 ? parse_int(cells[static_cast<std::size_t>(index)]) : std::nullopt;
    const std::string gpu = gpu_name(std::to_string(number ? *number : row));
    ++row;
    for (std::size_t j = 0; j < cells.size(); ++j) {
      if (fields[j]) add_smi_field(sink, *fields[j], gpu, cells[j]);
      if (const auto error = smi_error(cells[j]); !error.empty())
        sink.text("gpu.error", gpu, error);
    }
    if (driver >= 0) sink.text("driver.version", "", cells[static_cast<std::size_t>(driver)]);
  }
}

}  // namespace

extern const SignalReader smi_csv_signals;
const SignalReader smi_csv_signals = {"smi-csv", "nvidia-smi --query-gpu", recognise, read};

}  // namespace isleway::formats
