// NCCL's INFO and WARN lines (NCCL_DEBUG=INFO), apart from the topology: what was taken into use,
// what was set, what was found missing. Texts: NCCL's src/init.cc, transport/*.cc, graph/paths.cc.
#include <fmt/format.h>

#include <algorithm>

#include "formats/line_prefix.hpp"
#include "formats/nccl_tests_lines.hpp"
#include "formats/notebook.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr std::size_t kMostMentions = 200, kMostText = 200;

using Mentions = std::vector<NcclInfo::Mention>;

void mention(Mentions& mentions, std::string_view text, int line) {
  text = trim(text).substr(0, kMostText);
  const auto known = std::find_if(mentions.begin(), mentions.end(),
                                  [&](const auto& one) { return one.text == text; });
  if (known != mentions.end()) ++known->count;
  else if (mentions.size() < kMostMentions) mentions.push_back({std::string(text), line, 1});
}

std::string_view after(std::string_view line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  return at == std::string_view::npos ? std::string_view() : line.substr(at + mark.size());
}

/// The number before "`what`" in "24 coll channels, 0 collnet channels, ...".
int number_before(std::string_view line, std::string_view what) {
  const std::size_t at = line.find(what);
  if (at == std::string_view::npos) return 0;
  const std::vector<std::string_view> words = split_words(line.substr(0, at));
  const auto value = words.empty() ? std::nullopt : parse_int(words.back());
  return value && *value > 0 && *value <= 4096 ? static_cast<int>(*value) : 0;
}

int number_after(std::string_view line, std::string_view what) {
  const std::vector<std::string_view> words = split_words(after(line, what));
  const auto value = words.empty() ? std::nullopt : parse_int(words[0]);
  return value && *value > 0 && *value <= 1 << 24 ? static_cast<int>(*value) : 0;
}

/// "P2P/CUMEM/read", "SHM/direct/direct", "NET/IB/0/GDRDMA" without what differs from one
/// channel to the next.
std::string transport(std::string_view text) {
  const std::vector<std::string_view> words = split_words(text);
  if (words.empty()) return {};
  const auto parts = split(words[0], '/');
  if (parts[0] == "SHM") return "SHM";
  if (parts[0] == "NET" && parts.size() > 1)
    return fmt::format("NET/{}{}", parts[1],
                       text.find("GDRDMA") == std::string_view::npos ? "" : "/GDRDMA");
  if (parts[0] == "P2P") return parts.size() > 1 ? fmt::format("P2P/{}", parts[1]) : "P2P";
  return std::string(parts[0]);
}

class InfoReader {
 public:
  void read_line(std::string_view line, int number) {
    if (const std::string version = nccl_version_in(line);
        info_.version.empty() && !version.empty())
      info_.version = version;
    if (const auto text = after(line, "NCCL WARN"); !text.empty())
      mention(info_.warnings, text, number);
    const std::string_view message = after(line, "NCCL INFO");
    if (!message.empty()) read_message(trim(message), number);
  }
  NcclInfo finish() { return std::move(info_); }

 private:
  void read_message(std::string_view text, int line) {
    if (const auto via = after(text, " via "); !via.empty() && text.starts_with("Channel"))
      mention(info_.transports, transport(via), line);
    if (const auto network = after(text, "Using network "); !network.empty())
      mention(info_.networks, network, line);
    if (const auto value = after(text, " set by environment to "); !value.empty())
      add_setting(text, value, line);
    for (const std::string_view mark :
         {"NVLS multicast support is not available", "GPU Direct RDMA Disabled",
          "P2P is disabled between", "Could not enable P2P", "NET/IB : No device found",
          "Failed to open libibverbs"})
      if (text.find(mark) != std::string_view::npos) mention(info_.remarks, mark, line);
    keep_largest(info_.collective_channels, number_before(text, " coll channels"));
    keep_largest(info_.nvls_channels, number_before(text, " nvls channels"));
    for (const std::string_view word : {"nranks ", "nRanks "})
      keep_largest(info_.ranks, number_after(text, word));
    keep_largest(info_.nodes, number_after(text, "nNodes "));
  }

  void add_setting(std::string_view text, std::string_view value, int line) {
    const std::vector<std::string_view> words =
        split_words(text.substr(0, text.find(" set by environment")));
    if (words.empty() || !words.back().starts_with("NCCL_")) return;
    value = trim(value);
    if (value.ends_with('.')) value.remove_suffix(1);
    mention(info_.settings, fmt::format("{}={}", words.back(), value), line);
  }

  static void keep_largest(int& now, int value) { now = std::max(now, value); }

  NcclInfo info_;
};

int recognise(std::string_view text) {
  // Below what the topology or a table in the same log is recognised with: these say more.
  return text.find("NCCL INFO") != std::string_view::npos ||
                 text.find("NCCL WARN") != std::string_view::npos
             ? 40
             : 0;
}

Result<Document> read_info(std::string_view text, const ReadContext& context) {
  NcclInfo info = find_nccl_info(text);
  if (info.empty())
    return fail("is an NCCL log that says nothing of what was used", "lines of NCCL_DEBUG=INFO",
                "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET,ENV", {context.file});
  return Document{"nccl-info", std::move(info), {}};
}

}  // namespace

NcclInfo find_nccl_info(std::string_view text) {
  const std::string clean = strip_terminal_codes(text);
  InfoReader reader;
  LineCursor lines(clean);
  while (const auto line = lines.next()) reader.read_line(*line, lines.number());
  return reader.finish();
}

extern const Reader nccl_info_reader;
const Reader nccl_info_reader = {"nccl-info", "NCCL's log without the topology", recognise,
                                 read_info};

}  // namespace isleway::formats
