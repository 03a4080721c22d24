// What nccl-tests prints: one table or many, of any version, amid other programs' lines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "formats/line_prefix.hpp"
#include "formats/nccl_tests_lines.hpp"
#include "formats/notebook.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

/// More rows than any sweep has; what follows is left out.
constexpr std::size_t kMostRows = 100'000;

bool contains(std::string_view line, std::string_view part) {
  return line.find(part) != std::string_view::npos;
}

class LogReader {
 public:
  explicit LogReader(Notebook& notes) : notes_(notes) {}

  void read_line(std::string_view text, int line) {
    if (row_ && row_->continues(text)) return;
    if (auto row = NcclTestsRowReader::start(text, columns_ ? &*columns_ : nullptr)) {
      // After its average a run is over; tables may follow one another without a heading.
      table_.average_busbw ? close_table() : close_row();
      if (table_.line == 0) table_.line = line;
      row_ = std::move(row);
      row_line_ = line;
      return;
    }
    read_other(text, line);
  }

  NcclTestsTables finish() {
    close_table();
    return std::move(tables_);
  }

  /// The first line in which the tests or NCCL complain.
  std::string_view complaint() const { return complaint_; }

 private:
  bool has_results() const { return !table_.rows.empty() || table_.average_busbw || row_; }

  /// A line that only the start of a run prints.
  void begin(int line) {
    if (has_results()) close_table();
    if (table_.line == 0) table_.line = line;
  }

  void read_other(std::string_view text, int line) {
    if (const auto columns = parse_nccl_tests_heading(text)) {
      begin(line);
      // One that was cut or wrapped says less than the rows themselves.
      columns_ = columns->has_sides ? columns : std::nullopt;
    } else if (auto rank = parse_nccl_tests_rank(text)) {
      begin(line);
      ranks_.try_emplace(rank->rank, std::move(*rank));
    } else if (const std::string_view program = nccl_tests_program(text); !program.empty()) {
      read_program(text, program, line);
    } else if (contains(text, "nThread ") && contains(text, "minBytes")) {
      begin(line);
      read_settings(text);
    } else if (const std::size_t at = text.find("Avg bus bandwidth");
               at != std::string_view::npos) {
      close_row();
      read_average(text.substr(at));
    }
    if (const std::string version = nccl_version_in(text); !version.empty()) {
      if (table_.average_busbw) begin(line);
      if (table_.nccl_version.empty()) table_.nccl_version = version;
    }
    if (complaint_.empty() && (contains(text, "Test NCCL failure") ||
                               contains(text, "Test CUDA failure") || contains(text, "NCCL WARN")))
      complaint_ = trim(text);
  }

  /// The program's name stands in commands, but also in what a crash prints amid a table.
  void read_program(std::string_view text, std::string_view program, int line) {
    if (contains(text, "test concluded")) return;
    const bool starts = contains(text, "test starting");
    if (has_results() && !table_.average_busbw && !starts) {
      next_collective_ = program;
      return;
    }
    begin(line);
    table_.collective = program;
  }

  void read_average(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return;
    const std::vector<std::string_view> words = split_words(text.substr(colon + 1));
    const auto value = words.empty() ? std::nullopt : parse_double(words[0]);
    if (value && std::isfinite(*value) && *value >= 0) table_.average_busbw = value;
  }

  void close_row() {
    if (!row_) return;
    NcclTestsRow row = row_->row();
    row_.reset();
    row.line = row_line_;
    if (!row.out_of_place && !row.in_place)
      notes_.incomplete("a row is cut before the end of its first half and left out", row.line);
    else if (++total_rows_ <= kMostRows) table_.rows.push_back(std::move(row));
    else notes_.skipped(fmt::format("rows beyond {} are left out", kMostRows), row.line);
  }

  void read_settings(std::string_view text) {
    const std::vector<std::string_view> words = split_words(text);
    const auto number_after = [&](std::string_view label) -> std::int64_t {
      const auto at = std::find(words.begin(), words.end(), label);
      if (at == words.end() || at + 1 == words.end()) return 0;
      return parse_int(*(at + 1)).value_or(0);
    };
    const std::int64_t threads = number_after("nThread"), gpus = number_after("nGpus");
    constexpr std::int64_t most = 4096;
    table_.cuda_graph = number_after("graph:") > 0;
    if (threads <= 0 || threads > most || gpus <= 0 || gpus > most) return;
    table_.gpus_per_process = static_cast<int>(gpus);
    gpus_of_process_ = static_cast<int>(threads * gpus);
  }

  void close_table() {
    close_row();
    if (!table_.rows.empty() || table_.average_busbw || !ranks_.empty()) {
      place_ranks();
      note_old_algbw();
      note_missing_halves();
      if (table_.rows.empty())
        notes_.incomplete("a run without any row: it failed, or the file is cut", table_.line);
      tables_.push_back(std::move(table_));
    }
    table_ = {};
    table_.collective = std::exchange(next_collective_, {});
    ranks_.clear();
    columns_.reset();
    gpus_of_process_ = 0;
  }

  /// Some collectives have one half by design; a single short row is damage.
  void note_missing_halves() {
    const auto& rows = table_.rows;
    const auto whole = [](const NcclTestsRow& row) { return row.out_of_place && row.in_place; };
    const auto cut = std::find_if_not(rows.begin(), rows.end(), whole);
    if (cut != rows.end() && std::any_of(rows.begin(), rows.end(), whole))
      notes_.incomplete("a row is cut and has one half only", cut->line);
  }

  void place_ranks() {
    if (ranks_.empty()) {
      if (gpus_of_process_ > 1) {
        table_.ranks = gpus_of_process_;
        notes_.assumed(fmt::format("{} ranks, those of one process: the file lists no devices",
                                   gpus_of_process_),
                       table_.line);
      }
      return;
    }
    const auto count = static_cast<std::size_t>(ranks_.rbegin()->first) + 1;
    const bool plausible = count <= 2 * ranks_.size() + 64;
    if (count != ranks_.size())
      notes_.incomplete(fmt::format("{} of {} ranks are listed", ranks_.size(), count),
                        table_.line);
    table_.ranks = static_cast<int>(count);
    if (!plausible) return;
    table_.devices.resize(count);
    table_.hosts.resize(count);
    for (auto& [rank, found] : ranks_) {
      table_.devices[static_cast<std::size_t>(rank)] = std::move(found.device);
      table_.hosts[static_cast<std::size_t>(rank)] = std::move(found.host);
    }
  }

  /// Before June 2020, all_gather and reduce_scatter had busbw in the column of algbw.
  void note_old_algbw() {
    if (table_.collective != "all_gather" && table_.collective != "reduce_scatter") return;
    constexpr double visible = 1.0;  // GB/s, below which two decimals tell nothing
    std::size_t seen = 0, equal = 0;
    for (const NcclTestsRow& row : table_.rows)
      if (row.out_of_place && row.out_of_place->busbw_GBs >= visible) {
        ++seen;
        equal += row.out_of_place->algbw_GBs == row.out_of_place->busbw_GBs;
      }
    if (seen > 0 && equal == seen && table_.ranks != 1)
      notes_.assumed(
          "algbw equals busbw in every row, as versions before June 2020 print it: only "
          "time and busbw are to be trusted",
          table_.line);
  }

  Notebook& notes_;
  NcclTestsTables tables_;
  NcclTestsTable table_;
  std::map<int, NcclTestsRank> ranks_;
  std::optional<NcclTestsColumns> columns_;
  std::optional<NcclTestsRowReader> row_;  ///< not closed yet: it may go on
  std::string next_collective_;
  std::string_view complaint_;
  int gpus_of_process_ = 0;
  int row_line_ = 0;
  std::size_t total_rows_ = 0;
};

/// A line as the test printed it.
std::string_view bare(std::string_view line) {
  line = without_line_prefix(line);
  if (line.substr(0, 2) == "> ") line.remove_prefix(2);
  return line;
}

int recognise(std::string_view text) {
  const std::string clean = strip_terminal_codes(text);
  bool heading = false;
  int rows_alone = 0;
  LineCursor lines(clean);
  while (const auto raw = lines.next()) {
    const std::string_view line = bare(*raw);
    if (const auto columns = parse_nccl_tests_heading(line)) heading |= columns->has_sides;
    const bool row = NcclTestsRowReader::start(line, nullptr).has_value();
    if (heading && row) return 90;
    rows_alone = row ? rows_alone + 1 : 0;
    if (rows_alone >= 3) return 70;  // the heading was not copied
  }
  return heading || contains(clean, "# Avg bus bandwidth") ? 60 : 0;
}

Result<Document> read_log(std::string_view text, const ReadContext& context) {
  const std::string clean = strip_terminal_codes(text);
  Notebook notes(context.file);
  LogReader reader(notes);
  LineCursor lines(clean);
  while (const auto line = lines.next()) reader.read_line(bare(*line), lines.number());
  NcclTestsTables tables = reader.finish();
  const std::string_view complaint = reader.complaint();
  if (!complaint.empty()) notes.incomplete("the log reports trouble: " + cite(complaint));
  if (std::all_of(tables.begin(), tables.end(), [](const auto& t) { return t.rows.empty(); }))
    return fail(complaint.empty() ? "holds no row of results"
                                  : "holds no row of results; the log says " + cite(complaint),
                "rows of size, count, type and times as nccl-tests prints them",
                "run the test to its end, or copy the lines under '# size count type'",
                notes.at(0));
  return Document{"nccl-tests", std::move(tables), notes.notices()};
}

}  // namespace

extern const Reader nccl_tests_reader;
const Reader nccl_tests_reader = {"nccl-tests", "output of nccl-tests", recognise, read_log};

}  // namespace isleway::formats
