// cuda-samples' p2pBandwidthLatencyTest (github.com/NVIDIA/cuda-samples).
#include "formats/copy_grid.hpp"
#include "formats/line_prefix.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr std::string_view kMark = "Bandwidth Latency Test]";

/// "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)": its name is what stands
/// before "Matrix", without what is in brackets, which older versions lack.
std::optional<std::string> table_name(std::string_view line) {
  const std::size_t matrix = line.find("Matrix (");
  if (matrix == std::string_view::npos || line.find("P2P=") == std::string_view::npos)
    return std::nullopt;
  std::string_view name = trim(line.substr(0, matrix));
  if (const std::size_t bracket = name.find(" ("); bracket != std::string_view::npos)
    name = name.substr(0, bracket);
  return std::string(name);
}

/// "Device: 0, NVIDIA H100, pciBusID: 1b, ...": the number and the title. Of the whole line,
/// since "Device: " looks like what a launcher puts before lines.
void add_device(std::string_view line, std::vector<std::string>& devices) {
  constexpr std::string_view word = "Device: ";
  const std::size_t at = line.find(word);
  if (at == std::string_view::npos) return;
  line = line.substr(at);
  const std::size_t first = line.find(','), last = line.find(", pciBusID");
  if (first == std::string_view::npos || last == std::string_view::npos || last <= first) return;
  const auto number = parse_int(trim(line.substr(word.size(), first - word.size())));
  if (number == static_cast<std::int64_t>(devices.size()))
    devices.emplace_back(trim(line.substr(first + 1, last - first - 1)));
}

int recognise(std::string_view text) {
  const bool named = text.find(kMark) != std::string_view::npos;
  const bool table = text.find("P2P=Disabled Bandwidth Matrix") != std::string_view::npos ||
                     text.find("P2P=Enabled Bandwidth") != std::string_view::npos;
  return table ? 90 : named ? 60 : 0;
}

Result<Document> read_tables(std::string_view text, const ReadContext& context) {
  const std::string clean = strip_terminal_codes(text);
  Notebook notes(context.file);
  CopyGrids grids(notes);
  CopyTables found;
  LineCursor lines(clean);
  while (const auto raw = lines.next()) {
    const std::string_view line = without_line_prefix(*raw);
    if (auto name = table_name(line))
      grids.begin(std::move(*name), std::string(trim(line)), lines.number());
    else if (trim(line).starts_with("CPU ")) grids.close();  // latencies that the host sees
    else if (!grids.take(line)) add_device(*raw, found.devices);
  }
  found.tables = grids.finish();
  if (found.tables.empty())
    return fail("holds no matrix of results", "matrices of bandwidth or latency by device",
                "copy the whole output of p2pBandwidthLatencyTest", notes.at(0));
  return Document{"p2p-test", std::move(found), notes.notices()};
}

}  // namespace

extern const Reader p2p_test_reader;
const Reader p2p_test_reader = {"p2p-test", "output of p2pBandwidthLatencyTest", recognise,
                                read_tables};

}  // namespace isleway::formats
