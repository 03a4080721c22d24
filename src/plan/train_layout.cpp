#include "isleway/plan/train_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "isleway/core/text.hpp"

namespace isleway::plan {
namespace {

constexpr std::array<const char*, 4> kShardings = {"none", "optimizer", "gradients", "parameters"};
constexpr std::array<const char*, 4> kSchedules = {"1f1b", "interleaved", "zero-bubble",
                                                   "dualpipe"};
constexpr std::array<const char*, kDimensions> kDimensionNames = {"tp", "cp", "ep", "dp", "pp"};
constexpr std::array<const char*, 3> kMethods = {"ring", "all-gather", "all-to-all"};
constexpr int kMost = 1 << 20;

template <std::size_t N>
std::optional<std::size_t> find(const std::array<const char*, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i)
    if (equal_ignoring_case(names[i], name)) return i;
  return std::nullopt;
}

template <class Enum, std::size_t N>
Result<Enum> read_enum(const std::array<const char*, N>& names, std::string_view key,
                       std::string_view value) {
  if (const auto i = find(names, value)) return static_cast<Enum>(*i);
  return fail_unknown(key, value, {names.begin(), names.end()});
}

struct NumberKey {
  const char* name;
  int TrainLayout::*member;
};
constexpr std::array<NumberKey, 9> kNumbers = {{{"tp", &TrainLayout::tensor},
                                                {"cp", &TrainLayout::context},
                                                {"ep", &TrainLayout::expert},
                                                {"etp", &TrainLayout::expert_tensor},
                                                {"pp", &TrainLayout::pipeline},
                                                {"vp", &TrainLayout::virtual_stages},
                                                {"dp", &TrainLayout::data},
                                                {"mbs", &TrainLayout::micro_batch},
                                                {"shard-group", &TrainLayout::shard_group}}};

/// Reads one "key=value" after another into a layout.
class LayoutReader {
 public:
  Result<void> read(std::string_view key, std::string_view value);
  Result<TrainLayout> finish(int ranks);

 private:
  Result<int> number(std::string_view key, std::string_view value) const;
  Result<void> read_word(std::string_view key, std::string_view value);
  TrainLayout layout_;
  bool has_data_ = false, has_schedule_ = false;
  int fsdp_ = 0;
};

Result<int> LayoutReader::number(std::string_view key, std::string_view value) const {
  const auto number = parse_int(value);
  if (!number || *number < 1 || *number > kMost)
    return fail(fmt::format("--layout: {}={}", key, value), fmt::format("1 to {}", kMost));
  return static_cast<int>(*number);
}

Result<void> LayoutReader::read_word(std::string_view key, std::string_view value) {
  const auto set = [](auto& target) { return [&target](auto read) { target = read; }; };
  if (key == "sharding")
    return read_enum<Sharding>(kShardings, key, value).map(set(layout_.sharding));
  if (key == "recompute") return model::parse_recompute(value).map(set(layout_.recompute));
  if (key == "cp-method")
    return read_enum<ContextMethod>(kMethods, key, value).map(set(layout_.context_method));
  if (key == "order") return parse_order(value).map(set(layout_.order));
  if (key == "schedule") {
    has_schedule_ = true;
    return read_enum<Schedule>(kSchedules, key, value).map(set(layout_.schedule));
  }
  if (key == "sp") {
    layout_.sequence = value != "0" && value != "false" && value != "off";
    return {};
  }
  if (key == "zero") {
    if (value.size() != 1 || value[0] < '0' || value[0] > '3')
      return fail(fmt::format("--layout: zero={}", value), "0 to 3");
    layout_.sharding = static_cast<Sharding>(value[0] - '0');
    return {};
  }
  std::vector<std::string> known = {"sharding", "recompute", "cp-method", "order",
                                    "schedule", "sp",        "zero",      "fsdp"};
  for (const NumberKey& one : kNumbers) known.emplace_back(one.name);
  return fail_unknown("part of a layout", key, known);
}

Result<void> LayoutReader::read(std::string_view key, std::string_view value) {
  if (key == "fsdp") {
    const auto ranks = number(key, value);
    if (!ranks) return tl::unexpected(ranks.error());
    layout_.sharding = Sharding::parameters;
    fsdp_ = *ranks;
    return {};
  }
  for (const NumberKey& one : kNumbers) {
    if (key != one.name) continue;
    const auto read = number(key, value);
    if (!read) return tl::unexpected(read.error());
    layout_.*one.member = *read;
    if (key == "dp") has_data_ = true;
    return {};
  }
  return read_word(key, value);
}

Result<TrainLayout> LayoutReader::finish(int ranks) {
  if (!has_schedule_ && layout_.virtual_stages > 1) layout_.schedule = Schedule::interleaved;
  const std::int64_t model_ranks =
      std::int64_t{layout_.tensor} * layout_.context * layout_.pipeline;
  if (!has_data_) {
    if (model_ranks > kMost || (ranks > 0 && ranks % model_ranks != 0))
      return fail(fmt::format("{} GPUs cannot be divided by TP {} x CP {} x PP {}", ranks,
                              layout_.tensor, layout_.context, layout_.pipeline),
                  "a product that divides the number of GPUs");
    layout_.data = ranks > 0 ? static_cast<int>(ranks / model_ranks) : std::max(1, fsdp_);
  }
  if (model_ranks * layout_.data > kMost)
    return fail(fmt::format("more than {} ranks", kMost), "fewer");
  if (fsdp_ > 0 && fsdp_ < layout_.data * layout_.context) layout_.shard_group = fsdp_;
  return layout_;
}

}  // namespace

const char* name_of(Sharding sharding) { return kShardings[static_cast<std::size_t>(sharding)]; }
const char* name_of(Schedule schedule) { return kSchedules[static_cast<std::size_t>(schedule)]; }
const char* name_of(Dimension dimension) {
  return kDimensionNames[static_cast<std::size_t>(dimension)];
}
const char* name_of(ContextMethod method) { return kMethods[static_cast<std::size_t>(method)]; }

std::string short_text(const TrainLayout& layout) {
  std::string text;
  const auto add = [&](const char* name, int value) {
    if (value > 1) text += fmt::format("{}{}{}", text.empty() ? "" : " ", name, value);
  };
  add("tp", layout.tensor);
  add("cp", layout.context);
  add("ep", layout.expert);
  add("etp", layout.expert_tensor);
  add("pp", layout.pipeline);
  add("vp", layout.virtual_stages);
  if (layout.sharding == Sharding::parameters)
    add("fsdp", layout.shard_group > 0 ? layout.shard_group : layout.data * layout.context);
  add("dp", layout.data);
  return text + fmt::format("{}mbs{}", text.empty() ? "" : " ", layout.micro_batch);
}

std::string full_text(const TrainLayout& layout) {
  std::string text;
  for (const NumberKey& key : kNumbers) {
    const int value = layout.*key.member;
    const int usual = key.member == &TrainLayout::shard_group ? 0 : 1;
    const bool always = key.name == std::string_view("tp") || key.name == std::string_view("pp") ||
                        key.name == std::string_view("dp") || key.name == std::string_view("mbs");
    if (always || value != usual)
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", key.name, value);
  }
  text += fmt::format(",sharding={},recompute={},schedule={}", name_of(layout.sharding),
                      name_of(layout.recompute), name_of(layout.schedule));
  if (layout.tensor > 1 && !layout.sequence) text += ",sp=0";
  if (layout.context > 1) text += fmt::format(",cp-method={}", name_of(layout.context_method));
  if (layout.order != kUsualOrder) {
    text += ",order=";
    for (std::size_t i = 0; i < kDimensions; ++i)
      text += fmt::format("{}{}", i == 0 ? "" : "-", name_of(layout.order[i]));
  }
  return text;
}

Result<Order> parse_order(std::string_view text) {
  Order order{};
  std::array<bool, kDimensions> seen{};
  const auto names = split(text, '-');
  if (names.size() != kDimensions)
    return fail(fmt::format("\"{}\" is no order of all dimensions", text),
                "such as tp-cp-ep-dp-pp");
  for (std::size_t i = 0; i < kDimensions; ++i) {
    const auto dimension = find(kDimensionNames, trim(names[i]));
    if (!dimension || seen[*dimension])
      return fail(fmt::format("\"{}\" is no order of all dimensions", text),
                  "tp, cp, ep, dp and pp, each once");
    seen[*dimension] = true;
    order[i] = static_cast<Dimension>(*dimension);
  }
  return order;
}

Result<TrainLayout> parse_layout(std::string_view text, int ranks) {
  LayoutReader reader;
  for (const std::string_view piece : split(text, ',')) {
    const std::string_view pair = trim(piece);
    if (pair.empty()) continue;
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos)
      return fail(fmt::format("--layout: \"{}\"", pair), "key=value, as in tp=8,pp=4");
    auto read = reader.read(to_lower(trim(pair.substr(0, equals))), trim(pair.substr(equals + 1)));
    if (!read) return tl::unexpected(read.error());
  }
  return reader.finish(ranks);
}

}  // namespace isleway::plan
