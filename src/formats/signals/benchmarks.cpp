// Measurements: nccl-tests, nvbandwidth, p2pBandwidthLatencyTest, perftest's ib_write_bw.
#include <algorithm>
#include <array>

#include "formats/line_prefix.hpp"
#include "formats/notebook.hpp"
#include "formats/signal_sink.hpp"
#include "isleway/formats.hpp"

namespace isleway::formats {

extern const Reader nccl_tests_reader, nccl_tests_json_reader, nvbandwidth_reader, p2p_test_reader;

namespace {

/// By the reader of the same format. It needs no catalogue.
template <class Content>
const Content* content_of(const Result<Document>& document) {
  return document ? std::get_if<Content>(&document->content) : nullptr;
}

void add_devices(SignalSink& sink, const std::vector<std::string>& devices) {
  constexpr std::size_t kMostDevices = 1024;  // each is looked for in all lines
  for (std::size_t i = 0; i < std::min(devices.size(), kMostDevices); ++i)
    for (std::size_t line = 0; line < sink.size(); ++line)
      if (!devices[i].empty() && contains(sink.line(line), devices[i])) {
        sink.at(line);
        sink.text("gpu.name", gpu_name(std::to_string(i)), devices[i]);
        break;
      }
}

void at_line(SignalSink& sink, int line) {
  sink.at(static_cast<std::size_t>(line > 0 ? line - 1 : 0));
}

void read_nccl_tests(SignalSink& sink, const NcclTestsTables& tables) {
  for (const NcclTestsTable& table : tables) {
    at_line(sink, table.line);
    const std::string& name = table.collective.empty() ? "unknown" : table.collective;
    if (table.ranks > 0) sink.number("bench.ranks", name, table.ranks);
    if (!table.nccl_version.empty()) sink.text("nccl.version", "", table.nccl_version);
    for (const NcclTestsRow& row : table.rows) {
      at_line(sink, row.line);
      const std::string bytes = std::to_string(row.bytes);
      const auto& side = row.out_of_place ? row.out_of_place : row.in_place;
      if (!side) continue;
      sink.number("bench.time_us", name, side->time_us, bytes);
      sink.number("bench.algbw_GBs", name, side->algbw_GBs, bytes);
      sink.number("bench.busbw_GBs", name, side->busbw_GBs, bytes);
      if (const auto wrong = parse_double(side->wrong); wrong && *wrong > 0)
        sink.number("bench.wrong", name, *wrong, bytes);
    }
  }
  for (std::size_t i = 0; i < sink.size(); ++i)
    if (contains(sink.line(i), "# Avg bus bandwidth")) {
      sink.at(i);
      const std::string collective = tables.size() == 1 ? tables[0].collective : std::string();
      sink.measure("bench.average_busbw_GBs", collective, after(sink.line(i), ":"));
    }
}

/// "P2P=Enabled Latency" as "p2p_on_latency_us"; nvbandwidth's names stay.
std::string table_signal(const CopyTable& table) {
  std::string name;
  const std::string lower = to_lower(table.name);
  if (!contains(lower, "p2p=")) return "copy." + table.name;
  name = contains(lower, "p2p=enabled") ? "p2p_on_" : "p2p_off_";
  if (contains(lower, "latency")) return "copy." + name + "latency_us";
  return "copy." + name +
         (contains(lower, "bidirectional") ? "bidirectional_GBs" : "unidirectional_GBs");
}

/// The line of row `row` of a matrix whose title stands at `title`: its first word is the
/// row's number. JSON has no such line, then the title's stands for it.
std::size_t row_line(const SignalSink& sink, std::size_t title, std::size_t row) {
  const std::string number = std::to_string(row);
  bool heading = true;  // column numbers look like a row
  for (std::size_t i = title + 1; i < std::min(sink.size(), title + 4 * (row + 4)); ++i) {
    const auto words = split_words(sink.line(i));
    if (words.empty() || words[0] != number) continue;
    if (row == 0 && heading && words.size() > 1 && words[1] == "1") {
      heading = false;
      continue;
    }
    if (words.size() > 1) return i;
  }
  return title;
}

void read_copies(SignalSink& sink, const CopyTables& copies) {
  add_devices(sink, copies.devices);
  for (const CopyTable& table : copies.tables) {
    std::size_t title = static_cast<std::size_t>(table.line > 0 ? table.line - 1 : 0);
    if (table.line == 0)
      for (std::size_t i = 0; i < sink.size(); ++i)
        if (contains(sink.line(i), "\"" + table.name + "\"")) title = i;
    const std::string signal = table_signal(table);
    const bool list = table.cells.size() == 1;  // host and device: a number a GPU
    for (std::size_t i = 0; i < table.cells.size(); ++i) {
      sink.at(row_line(sink, title, i));
      for (std::size_t j = 0; j < table.cells[i].size(); ++j) {
        if (!table.cells[i][j]) continue;
        const std::string column = gpu_name(std::to_string(j));
        if (list) sink.number(signal, column, *table.cells[i][j]);
        else sink.number(signal, gpu_name(std::to_string(i)), *table.cells[i][j], column);
      }
    }
  }
}

/// "Device=0 CANNOT Access Peer Device=1", "> Peer access from A (GPU0) -> B (GPU1) : Yes"
void read_access(SignalSink& sink) {
  for (std::size_t i = 0; i < sink.size(); ++i) {
    const std::string_view line = sink.line(i);
    sink.at(i);
    if (contains(line, "Access Peer Device=")) {
      const std::string_view from = first_word(after(line, "Device="));
      const std::string_view to = first_word(after(line, "Peer Device="));
      if (leading_number(from) && leading_number(to))
        sink.number("p2p.access", gpu_name(from), contains(line, "CANNOT") ? 0 : 1, gpu_name(to));
    }
    // simpleP2P compares what came over with what was sent.
    if (line.starts_with("Verification error")) sink.text("p2p.corrupt", "", line);
    if (contains(line, "Peer access from ") && contains(line, "->")) {
      const std::string_view from = between(line, "(GPU", ")");
      const std::string_view to = between(after(line, "->"), "(GPU", ")");
      if (leading_number(from) && leading_number(to))
        sink.number("p2p.access", gpu_name(from), line.ends_with("Yes") ? 1 : 0, gpu_name(to));
    }
  }
}

/// "#bytes  #iterations  BW peak[Gb/sec]  BW average[Gb/sec]  MsgRate[Mpps]" and its rows.
void read_perftest(SignalSink& sink) {
  std::string signal;
  bool rows = false;
  for (std::size_t i = 0; i < sink.size(); ++i) {
    const std::string_view line = sink.line(i);
    const std::string lower = to_lower(line);
    if (contains(lower, "rdma_write") || contains(lower, "ib_write_bw")) signal = "ib.write_Gbs";
    if (contains(lower, "rdma_read") || contains(lower, "ib_read_bw")) signal = "ib.read_Gbs";
    if (contains(lower, "bw average[gb/sec]")) {
      rows = true;
      continue;
    }
    const auto words = split_words(line);
    if (!rows || words.size() < 4 || signal.empty()) continue;
    const auto bytes = parse_int(words[0]);
    const auto average = parse_double(words[3]);
    if (!bytes || !average) continue;
    sink.at(i);
    sink.number(signal, "", *average, words[0]);
  }
}

int recognise(const TextIndex& text) {
  int best = 0;
  if (text.has("Access Peer Device=") || text.has("Peer access from ") ||
      text.has("BW average[Gb/sec]"))
    best = 80;
  if (text.has("busbw") || text.has("# Avg bus bandwidth") || text.has("  float "))
    best = std::max(best, nccl_tests_reader.recognise(text.text()));
  if (text.has("\"bus_bw\"")) best = std::max(best, nccl_tests_json_reader.recognise(text.text()));
  if (text.has("nvbandwidth") || text.has("bandwidth (GB/s)"))
    best = std::max(best, nvbandwidth_reader.recognise(text.text()));
  if (text.has("P2P=") || text.has("Bandwidth Latency Test]"))
    best = std::max(best, p2p_test_reader.recognise(text.text()));
  return best;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  const ReadContext context{nullptr, from.file, "", ReadContext::Want::anything};
  for (const Reader* reader :
       {&nccl_tests_reader, &nccl_tests_json_reader, &nvbandwidth_reader, &p2p_test_reader}) {
    if (reader->recognise(text) <= 0) continue;
    const Result<Document> document = reader->read(text, context);
    if (const auto* tables = content_of<NcclTestsTables>(document)) read_nccl_tests(sink, *tables);
    if (const auto* copies = content_of<CopyTables>(document)) read_copies(sink, *copies);
    if (document) sink.take(document->notices, 0);
    else notices.skipped(document.error().where, document.error().what);
  }
  read_access(sink);
  read_perftest(sink);
}

}  // namespace

extern const SignalReader benchmarks_signals;
const SignalReader benchmarks_signals = {
    "benchmarks", "nccl-tests, nvbandwidth, p2pBandwidthLatencyTest, ib_write_bw", recognise, read};

}  // namespace isleway::formats
