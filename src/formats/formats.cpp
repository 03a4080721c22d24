#include "isleway/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "formats/lookalikes.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

/// Below this a reader has seen its format's name rather than its content.
constexpr int kSure = 50;

struct Candidate {
  const Reader* reader;
  int certainty;
  std::size_t lines = 0;  ///< that it takes from the start to recognise the text
};

/// By bisection: more lines never make an output less recognisable.
std::size_t lines_to_recognise(const Reader& reader, std::string_view text,
                               const std::vector<std::string_view>& lines) {
  std::size_t least = 0, most = lines.size();
  while (least < most) {
    const std::size_t middle = (least + most) / 2;
    const std::string_view& last = lines[middle];
    const auto end = static_cast<std::size_t>(last.data() + last.size() - text.data());
    if (reader.recognise(text.substr(0, end)) >= kSure) most = middle;
    else least = middle + 1;
  }
  return least;
}

/// Those that recognise the text: first the sure ones, by where their output starts.
std::vector<Candidate> candidates(std::string_view text) {
  std::vector<Candidate> all;
  for (const Reader* reader : readers())
    if (const int certainty = reader->recognise(text); certainty > 0)
      all.push_back({reader, certainty});
  const auto surer = [](const Candidate& a, const Candidate& b) {
    return a.certainty > b.certainty;
  };
  std::stable_sort(all.begin(), all.end(), surer);
  const auto sure_end =
      std::find_if(all.begin(), all.end(), [](const Candidate& c) { return c.certainty < kSure; });
  if (sure_end - all.begin() < 2) return all;
  const std::vector<std::string_view> lines = split_lines(text);
  for (auto sure = all.begin(); sure != sure_end; ++sure)
    sure->lines = lines_to_recognise(*sure->reader, text, lines);
  std::stable_sort(all.begin(), sure_end,
                   [](const Candidate& a, const Candidate& b) { return a.lines < b.lines; });
  return all;
}

bool is_wanted(const Document& document, ReadContext::Want want) {
  const bool is_machine = std::holds_alternative<std::shared_ptr<const Unit>>(document.content) ||
                          std::holds_alternative<Fabric>(document.content);
  return want == ReadContext::Want::anything || is_machine == (want == ReadContext::Want::machine);
}

tl::unexpected<Error> refuse(const Location& where, const Lookalike& kind) {
  return fail(kind.what, {}, kind.hint, where);
}

tl::unexpected<Error> refuse_unknown(std::string_view text, const Location& where) {
  if (const Lookalike* kind = find_lookalike(text)) return refuse(where, *kind);
  std::string known;
  for (const Reader* reader : readers())
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", reader->title, reader->name);
  return fail("is in no format that is known here", known,
              "`nvidia-smi topo -m > topo.txt` on the machine", where);
}

}  // namespace

Result<Document> read(std::string_view text, const ReadContext& context) {
  const Location where{context.file};
  if (text.size() > kMostBytes)
    return fail(fmt::format("is larger than {} MiB", kMostBytes >> 20), {}, {}, where);
  if (const Lookalike* binary = find_binary(text)) return refuse(where, *binary);
  if (trim(text).empty()) return fail("is empty", {}, {}, where);

  const std::vector<Candidate> able = candidates(text);
  if (able.empty()) return refuse_unknown(text, where);
  std::optional<Document> chosen;
  std::optional<Error> first_error;
  Notices passed_over;
  for (const Candidate& candidate : able) {
    if (chosen && is_wanted(*chosen, context.want)) {
      passed_over.skipped(
          where, fmt::format("there is another output in it as well: {}", candidate.reader->title));
      continue;
    }
    Result<Document> document = candidate.reader->read(text, context);
    if (!document) {
      passed_over.skipped(document.error().where, document.error().what);
      if (!first_error) first_error = std::move(document.error());
    } else if (!chosen || is_wanted(*document, context.want)) {
      chosen = *std::move(document);
    }
  }
  if (!chosen) return tl::unexpected(*first_error);
  chosen->notices.append(passed_over);
  return *std::move(chosen);
}

Result<Fabric> to_fabric(const Document& document) {
  if (const auto* unit = std::get_if<std::shared_ptr<const Unit>>(&document.content))
    return Fabric::single(*unit);
  if (const auto* fabric = std::get_if<Fabric>(&document.content)) return *fabric;
  if (std::holds_alternative<NcclInfo>(document.content))
    return fail("is an NCCL log without the block that shows the topology",
                "a description of a machine",
                "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH; `isleway compare` reads the rest");
  if (std::holds_alternative<P2pTable>(document.content))
    return fail("says which GPUs may reach one another, but not over what",
                "a description of a machine", "`nvidia-smi topo -m`");
  return fail(fmt::format("holds measurements ({}), not a machine", document.format),
              "a description of a machine", "`isleway compare` reads measurements");
}

const Writer* find_writer(std::string_view name) {
  for (const Writer* writer : writers())
    if (equal_ignoring_case(writer->name, name)) return writer;
  return nullptr;
}

}  // namespace isleway::formats
