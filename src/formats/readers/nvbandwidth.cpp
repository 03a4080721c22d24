// nvbandwidth, as text and as JSON (github.com/NVIDIA/nvbandwidth: output.cpp, json_output.cpp).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "formats/copy_grid.hpp"
#include "formats/line_prefix.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr const char* kName = "nvbandwidth";
constexpr std::size_t kMostCells = 1024;
constexpr int kMostDepth = 16;

// --- Text ----------------------------------------------------------------------------

/// "Device 0: NVIDIA H100 80GB HBM3 (00000000:1b:00)"; JSON has the same without "Device".
void add_device(std::string_view line, std::vector<std::string>& devices) {
  const std::size_t colon = line.find(':'), bus = line.rfind(" (0");
  if (colon == std::string_view::npos || bus == std::string_view::npos || bus < colon) return;
  std::string_view number = trim(line.substr(0, colon));
  if (number.starts_with("Device ")) number.remove_prefix(7);
  const std::string_view title = trim(line.substr(colon + 1, bus - colon - 1));
  if (parse_int(number) == static_cast<std::int64_t>(devices.size())) devices.emplace_back(title);
}

/// "Running device_to_device_memcpy_write_ce."
std::string_view running(std::string_view line) {
  constexpr std::string_view word = "Running ";
  if (!line.starts_with(word) || !line.ends_with('.')) return {};
  return line.substr(word.size(), line.size() - word.size() - 1);
}

bool describes_cells(std::string_view line) {
  return line.ends_with("(GB/s)") || line.ends_with("(ns)");
}

CopyTables read_text(std::string_view text, Notebook& notes) {
  CopyGrids grids(notes);
  CopyTables found;
  std::string test;
  LineCursor lines(text);
  while (const auto raw = lines.next()) {
    const std::string_view line = trim(without_line_prefix(*raw));
    if (const std::string_view name = running(line); !name.empty()) {
      grids.close();
      test = name;
    } else if (describes_cells(line)) {
      grids.begin(test, std::string(line), lines.number());
    } else if (line.starts_with("SUM ")) {
      grids.close();
    } else if (!grids.take(line)) {
      add_device(line, found.devices);
    }
  }
  found.tables = grids.finish();
  return found;
}

// --- JSON ----------------------------------------------------------------------------

using Json = nlohmann::json;

std::string text_of(const Json& object, const char* key) {
  const auto value = object.find(key);
  return value != object.end() && value->is_string() ? value->get<std::string>() : std::string();
}

/// Numbers are written as strings.
std::optional<double> cell_of(const Json& value) {
  if (value.is_number()) return copy_cell(value.get<double>());
  if (!value.is_string()) return std::nullopt;
  return copy_cell(parse_double(value.get_ref<const std::string&>()));
}

std::optional<CopyTable> table_of(const Json& testcase) {
  if (!testcase.is_object()) return std::nullopt;
  const auto matrix = testcase.find("bandwidth_matrix");
  if (matrix == testcase.end() || !matrix->is_array() || matrix->empty()) return std::nullopt;
  CopyTable table{text_of(testcase, "name"), text_of(testcase, "bandwidth_description"), {}, 0};
  for (const Json& row : *matrix) {
    if (!row.is_array() || row.size() > kMostCells || table.cells.size() == 3 * kMostCells)
      return std::nullopt;
    auto& cells = table.cells.emplace_back();
    for (const Json& value : row) cells.push_back(cell_of(value));
  }
  // Tests in both directions append each direction's matrix and then their sum.
  const std::size_t columns = table.cells[0].size();
  if (columns > 1 && table.cells.size() == 3 * columns)
    table.cells.erase(table.cells.begin(),
                      table.cells.end() - static_cast<std::ptrdiff_t>(columns));
  return table;
}

bool too_deep(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kMostDepth) return true;
  }
  return false;
}

/// Nothing when it is not JSON of this tool, which may be cut.
std::optional<CopyTables> read_json(std::string_view text, Notebook& notes) {
  const std::size_t start = text.find('{'), end = text.rfind('}');
  if (start == std::string_view::npos || end == std::string_view::npos || end < start)
    return std::nullopt;
  text = text.substr(start, end - start + 1);
  if (too_deep(text)) return std::nullopt;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains(kName) || !json[kName].is_object()) return std::nullopt;
  const Json& root = json[kName];
  CopyTables found;
  for (const char* key : {"GPU Device list", "GPU Device info"})
    if (const auto list = root.find(key); list != root.end() && list->is_array())
      for (const Json& device : *list)
        if (device.is_string()) add_device(device.get_ref<const std::string&>(), found.devices);
  const auto testcases = root.find("testcases");
  if (testcases == root.end() || !testcases->is_array()) return found;
  for (const Json& testcase : *testcases) {
    if (auto table = table_of(testcase)) found.tables.push_back(std::move(*table));
    else if (testcase.is_object() && text_of(testcase, "status") == "Passed")
      notes.skipped("a test case without a readable matrix: " + cite(text_of(testcase, "name")));
  }
  return found;
}

// --- Both ----------------------------------------------------------------------------

int recognise(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (has("\"nvbandwidth\"") && has("\"testcases\"")) return 90;
  const bool table = has("Running ") && has("bandwidth (GB/s)");
  return table && has("memcpy ") ? 90 : has("nvbandwidth Version") ? 60 : 0;
}

Result<Document> read_output(std::string_view text, const ReadContext& context) {
  const std::string clean = strip_terminal_codes(text);
  Notebook notes(context.file);
  auto json = read_json(clean, notes);
  CopyTables found = json ? *std::move(json) : read_text(clean, notes);
  if (found.tables.empty())
    return fail("holds no matrix of results", "matrices as nvbandwidth prints them, or its JSON",
                "run the test to its end; a JSON file must be whole", notes.at(0));
  return Document{kName, std::move(found), notes.notices()};
}

}  // namespace

extern const Reader nvbandwidth_reader;
const Reader nvbandwidth_reader = {kName, "output of nvbandwidth, text or JSON", recognise,
                                   read_output};

}  // namespace isleway::formats
