#include "formats/topo_matrix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "formats/line_prefix.hpp"
#include "formats/topo_grid.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

/// More NVLinks than any part has: a garbled number.
constexpr int kMostNvlinks = 72;

TopoCell parse_cell(std::string_view token) {
  static constexpr std::array<std::pair<std::string_view, PathKind>, 7> kinds = {{
      {"X", PathKind::loc},
      {"PIX", PathKind::pix},
      {"PXB", PathKind::pxb},
      {"PHB", PathKind::phb},
      {"NODE", PathKind::node},
      {"SYS", PathKind::sys},
      {"SOC", PathKind::sys},  // as drivers before 390 wrote it
  }};
  for (const auto& [word, kind] : kinds)
    if (token == word) return {kind, 0};
  if (token.substr(0, 2) == "NV" && token.size() <= 4)
    if (const auto links = parse_int(token.substr(2));
        links && *links > 0 && *links <= kMostNvlinks)
      return {PathKind::nvl, static_cast<int>(*links)};
  return {};
}

/// "N/A" and blanks say nothing.
std::string value_of(std::string_view column) {
  return column == "N/A" ? std::string() : std::string(column);
}

std::optional<std::string_view> column_at(const TopoGrid::Row& row, std::size_t i) {
  if (i >= row.columns.size()) return std::nullopt;
  return row.columns[i];
}

/// "mlx5_0" of "NIC0: mlx5_0"; nothing where remains of the header stand in its place.
std::optional<std::string_view> name_in_legend(std::string_view line) {
  const std::vector<std::string_view> words = split_words(line.substr(line.find(':') + 1));
  if (words.size() != 1 || words[0].size() > 64 || words[0].substr(0, 3) == "NIC")
    return std::nullopt;
  return words[0];
}

/// Reads what stands under the matrix: the legend tells of -mp, the NIC legend tells names.
class LegendReader {
 public:
  LegendReader(TopoMatrix& matrix, Notebook& notes) : matrix_(matrix), notes_(notes) {
    for (TopoDevice& device : matrix.devices) by_printed_.emplace(device.printed, &device);
  }

  void read(const TopoGrid& grid) {
    for (std::size_t i = 0; i < grid.lines.size(); ++i) {
      const std::string_view line = grid.lines[i];
      // Only what stands before the matrix can be its command.
      if (static_cast<int>(i) < grid.header_line && line.find("topo -mp") != std::string_view::npos)
        matrix_.hides_nvlink = true;
      if (i < grid.end) continue;
      const std::string_view text = trim(line);
      pix_explained_ |= text.substr(0, 3) == "PIX" && text.find('=') != std::string_view::npos;
      nvlink_explained_ |= text.substr(0, 3) == "NV#";
      if (is_nic_legend_line(line)) name_nic(text, static_cast<int>(i + 1));
    }
    matrix_.hides_nvlink |= pix_explained_ && !nvlink_explained_;
    if (std::any_of(matrix_.cells.begin(), matrix_.cells.end(),
                    [](const TopoCell& cell) { return cell.kind == PathKind::nvl; }))
      matrix_.hides_nvlink = false;
    if (!damaged_.empty())
      notes_.incomplete("the NIC legend is damaged: the names of " + list_names(damaged_) +
                        " are not readable");
  }

 private:
  void name_nic(std::string_view text, int line) {
    const std::size_t colon = text.find(':');
    const std::string_view printed = text.substr(0, colon);
    const auto name = name_in_legend(text);
    const auto device = by_printed_.find(printed);
    if (device == by_printed_.end()) {
      notes_.skipped("the NIC legend names a NIC that the matrix lacks", line);
    } else if (!name || !names_.emplace(*name).second) {
      damaged_.push_back(device->second->printed);
    } else {
      device->second->name = *name;
    }
  }

  TopoMatrix& matrix_;
  Notebook& notes_;
  std::map<std::string, TopoDevice*, std::less<>> by_printed_;
  std::set<std::string, std::less<>> names_;
  std::vector<std::string> damaged_;
  bool pix_explained_ = false, nvlink_explained_ = false;
};

/// Neither header nor row.
Error no_matrix(std::string_view text, const TopoGrid& grid, const Notebook& notes) {
  if (const std::string_view error = topo_tool_error(text); !error.empty())
    return {notes.at(1), fmt::format("holds an error of nvidia-smi and no matrix: {}", cite(error)),
            "the output of 'nvidia-smi topo -m'",
            "run 'nvidia-smi topo -m' without other options, on Linux: drivers for Windows may not "
            "know it"};
  std::size_t nics = 0, damaged = 0;
  for (const std::string_view line : grid.lines)
    if (is_nic_legend_line(line)) {
      ++nics;
      damaged += !name_in_legend(line);
    }
  const char* expected = "a header 'GPU0 GPU1 ...' and one row a device";
  if (nics == 0) return {notes.at(1), "holds no topology matrix", expected, {}};
  return {notes.at(1),
          fmt::format("holds a legend of {} NICs ({} without a readable name) and no "
                      "matrix",
                      nics, damaged),
          expected, "copy the whole output"};
}

/// A header that no row follows.
Error no_rows(std::string_view text, const TopoGrid& grid, const Notebook& notes) {
  const Location header = notes.at(grid.header_line);
  const std::string what =
      fmt::format("names {} devices and holds no row of the matrix", grid.devices.size());
  if (const std::string_view error = topo_tool_error(text); !error.empty())
    return {header,
            what + fmt::format(": nvidia-smi says {}", cite(error)),
            {},
            "the PCI tree in /sys/bus/pci/devices is often hidden in containers and sandboxes: run "
            "it on the host"};
  for (const std::string_view line : grid.lines) {
    const Tokens tokens = topo_tokens(line);
    if (tokens.size() < 3 || !is_gpu_name(tokens[0])) continue;
    const std::string_view foreign = is_topo_cell(tokens[2]) ? tokens[1] : tokens[2];
    if (!is_topo_cell(foreign))
      return {header, what + fmt::format(": {} is no word of nvidia-smi's", cite(foreign)),
              "X, NV#, PIX, PXB, PHB, NODE or SYS",
              "this looks like another vendor's tool; NCCL's or RCCL's topology file "
              "(NCCL_TOPO_DUMP_FILE) tells more"};
  }
  return {header, what, "one row a device", "copy the whole output"};
}

}  // namespace

bool is_topo_cell(std::string_view token) { return parse_cell(token).kind != PathKind::dis; }

std::string_view topo_tool_error(std::string_view text) {
  static constexpr std::array<std::string_view, 3> errors = {
      "Failed to run topology matrix",
      "Option -m is missing its value",
      "command line argument must be used in conjunction with -n or -p",
  };
  LineCursor lines(text);
  while (const auto line = lines.next())
    for (const std::string_view error : errors)
      if (line->find(error) != std::string_view::npos) return trim(*line);
  return {};
}

std::string list_names(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + most - 1, ", "),
                     names.size() - most + 1);
}

Result<TopoMatrix> parse_topo_matrix(std::string_view text, Notebook& notes) {
  const auto grid = parse_topo_grid(text, is_topo_cell, notes);
  if (!grid) return tl::unexpected(grid.error());
  if (grid->devices.empty()) return tl::unexpected(no_matrix(text, *grid, notes));
  if (!grid->has_rows()) return tl::unexpected(no_rows(text, *grid, notes));

  TopoMatrix matrix;
  const std::size_t n = grid->devices.size();
  matrix.titles = grid->titles;
  matrix.line = grid->header_line > 0 ? grid->header_line : grid->rows[0].line;
  matrix.cells.resize(n * n);
  std::vector<std::string> without_row;
  for (std::size_t i = 0; i < n; ++i) {
    const TopoGrid::Row& row = grid->rows[i];
    TopoDevice device;
    device.printed = device.name = std::string(grid->devices[i]);
    device.is_gpu = is_gpu_name(device.printed);
    if (device.is_gpu || device.printed.substr(0, 3) == "NIC")
      device.number = static_cast<int>(
          std::min<std::int64_t>(parse_int(device.printed.substr(3)).value_or(-1), 1 << 20));
    device.line = row.line;
    device.cpu_affinity = value_of(column_at(row, 0).value_or(""));
    device.numa = value_of(column_at(row, 1).value_or(""));
    device.gpu_numa = value_of(column_at(row, 2).value_or(""));
    if (row.line == 0) without_row.push_back(device.printed);
    for (std::size_t j = 0; j < row.cells.size(); ++j) {
      matrix.cells[i * n + j] = parse_cell(row.cells[j]);
      if (!row.cells[j].empty() && !is_topo_cell(row.cells[j]))
        notes.skipped(
            fmt::format("{}: {} is no word of the legend", device.printed, cite(row.cells[j])),
            row.line);
    }
    matrix.devices.push_back(std::move(device));
  }
  if (!without_row.empty())
    notes.incomplete(fmt::format("{} of {} devices have no row: {}", without_row.size(), n,
                                 list_names(without_row)),
                     matrix.line);
  LegendReader(matrix, notes).read(*grid);
  return matrix;
}

}  // namespace isleway::formats
