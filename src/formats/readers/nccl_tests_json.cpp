// What nccl-tests writes with -J (2.19 and later; github.com/NVIDIA/nccl-tests, src/util.cu).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "formats/nccl_tests_lines.hpp"
#include "formats/notebook.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

using Json = nlohmann::json;

/// More rows than any sweep has, and more ranks than any run.
constexpr std::size_t kMostRows = 100'000;
constexpr std::int64_t kMostRanks = 1 << 20;
constexpr int kMostDepth = 16;

std::string text_at(const Json& object, const char* key) {
  const auto value = object.find(key);
  if (value == object.end()) return {};
  return value->is_string() ? std::string(trim(value->get_ref<const std::string&>()))
                            : std::string();
}

/// A number, also where it is written as a string.
std::optional<double> number_at(const Json& object, const char* key) {
  const auto value = object.find(key);
  if (value == object.end()) return std::nullopt;
  std::optional<double> number;
  if (value->is_number()) number = value->get<double>();
  else if (value->is_string()) number = parse_double(trim(value->get_ref<const std::string&>()));
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::int64_t whole_at(const Json& object, const char* key, std::int64_t otherwise) {
  constexpr double most = 1e18;
  const auto number = number_at(object, key);
  if (!number || std::abs(*number) > most) return otherwise;
  return static_cast<std::int64_t>(*number);
}

std::optional<NcclTestsRow::Side> side_at(const Json& result, const char* key) {
  const auto side = result.find(key);
  if (side == result.end() || !side->is_object()) return std::nullopt;
  const auto time = number_at(*side, "time"), alg = number_at(*side, "alg_bw"),
             bus = number_at(*side, "bus_bw");
  if (!time || *time <= 0 || !alg || !bus) return std::nullopt;
  const auto wrong = number_at(*side, "nwrong");
  return NcclTestsRow::Side{*time, *alg, *bus, wrong ? fmt::format("{:.0f}", *wrong) : "N/A"};
}

/// Takes what it knows the moment it is complete, so that a cut file gives what it still has,
/// and drops it at once, so that no tree of the whole file is built.
class Gatherer {
 public:
  explicit Gatherer(Notebook& notes) : notes_(notes) {}

  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (depth > kMostDepth) return false;
    if (event == Event::key) {
      path_.resize(static_cast<std::size_t>(depth));
      path_.back() = parsed.get<std::string>();
    } else if (event == Event::value && depth <= 2) {
      take_value(depth, parsed);
    } else if (event == Event::object_end) {
      return !take_object(parsed);
    }
    return true;
  }

  NcclTestsTable finish() {
    table_.ranks = static_cast<int>(ranks_.size());
    for (auto& [rank, found] : ranks_) {
      table_.devices.push_back(std::move(found.device));
      table_.hosts.push_back(std::move(found.host));
    }
    if (!ranks_.empty() && ranks_.rbegin()->first + 1 != table_.ranks) {
      notes_.incomplete(
          fmt::format("{} of {} ranks are listed", table_.ranks, ranks_.rbegin()->first + 1));
      table_.ranks = ranks_.rbegin()->first + 1;
      table_.devices.clear();
      table_.hosts.clear();
    }
    table_.line = 1;
    return std::move(table_);
  }

 private:
  void take_value(int depth, const Json& value) {
    const std::string_view top = path_.empty() ? std::string_view() : path_[0];
    if (top == "args" && value.is_string() && table_.collective.empty())
      table_.collective = nccl_tests_program(value.get_ref<const std::string&>());
    if (path_.size() != static_cast<std::size_t>(depth)) return;
    if (top == "nccl_version" && value.is_number_integer())
      table_.nccl_version = nccl_version_of(value.get<std::int64_t>());
    if (top != "config" || depth != 2 || !value.is_number_integer()) return;
    const auto number = value.get<std::int64_t>();
    if (path_[1] == "ngpus" && number > 0 && number <= kMostRanks)
      table_.gpus_per_process = static_cast<int>(number);
    if (path_[1] == "graph") table_.cuda_graph = number > 0;
  }

  /// True when the object is one of those looked for.
  bool take_object(const Json& object) {
    if (!object.is_object()) return false;
    if (object.contains("size") && (object.contains("out_of_place") || object.contains("in_place")))
      return take_row(object), true;
    if (object.contains("rank") && object.contains("device_info")) return take_rank(object), true;
    if (object.contains("bandwidth") && !path_.empty() && path_[0] == "average_bus_bandwidth")
      table_.average_busbw = number_at(object, "bandwidth");
    return false;
  }

  void take_row(const Json& result) {
    NcclTestsRow row;
    row.bytes = whole_at(result, "size", -1);
    row.count = whole_at(result, "count", 0);
    row.type = text_at(result, "type");
    row.redop = text_at(result, "redop");
    row.root =
        static_cast<int>(std::clamp<std::int64_t>(whole_at(result, "root", -1), -1, kMostRanks));
    row.out_of_place = side_at(result, "out_of_place");
    row.in_place = side_at(result, "in_place");
    if (row.bytes < 0 || (!row.out_of_place && !row.in_place))
      notes_.incomplete("a result without size or times is left out");
    else if (table_.rows.size() < kMostRows) table_.rows.push_back(std::move(row));
    else notes_.skipped(fmt::format("rows beyond {} are left out", kMostRows));
  }

  void take_rank(const Json& device) {
    const std::int64_t rank = whole_at(device, "rank", -1);
    if (rank < 0 || rank > kMostRanks) return;
    ranks_.try_emplace(static_cast<int>(rank),
                       NcclTestsRank{static_cast<int>(rank), text_at(device, "hostname"),
                                     text_at(device, "device_info")});
  }

  Notebook& notes_;
  NcclTestsTable table_;
  std::map<int, NcclTestsRank> ranks_;
  std::vector<std::string> path_;  ///< the keys around what is being read
};

int recognise(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  return has("\"bus_bw\"") && has("\"out_of_place\"") && has("\"size\"") ? 95 : 0;
}

Result<Document> read_json(std::string_view text, const ReadContext& context) {
  Notebook notes(context.file);
  const std::size_t start = text.find('{');
  if (start != std::string_view::npos) text.remove_prefix(start);
  Gatherer gatherer(notes);
  const Json rest = Json::parse(text, std::ref(gatherer), false);
  NcclTestsTable table = gatherer.finish();
  if (table.rows.empty())
    return fail("holds no result", "the file that nccl-tests writes with -J",
                "run the test to its end; results are read up to where a file is cut", notes.at(0));
  if (rest.is_discarded())
    notes.incomplete(
        fmt::format("the JSON is cut or damaged behind its {} results", table.rows.size()));
  return Document{"nccl-tests", NcclTestsTables{std::move(table)}, notes.notices()};
}

}  // namespace

extern const Reader nccl_tests_json_reader;
const Reader nccl_tests_json_reader = {"nccl-tests-json", "the JSON of nccl-tests (-J)", recognise,
                                       read_json};

}  // namespace isleway::formats
