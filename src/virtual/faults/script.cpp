#include "isleway/virtual/script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "fabric/yaml_units.hpp"
#include "isleway/core/text.hpp"
#include "isleway/virtual/fault.hpp"

namespace isleway::vgpu {
namespace {

/// "{0}" is the first word after the verb, and so on.
struct Verb {
  std::string_view name;
  std::size_t words;
  const char* fault;
  const char* usage;
};
constexpr std::array<Verb, 15> kVerbs = {{
    {"link-down", 1, "{0}", "link-down gpu3:nvlink5"},
    {"link-up", 1, "repair {0}", "link-up gpu3:nvlink5"},
    {"lane-down", 2, "{0}:lanes={1}", "lane-down gpu3:nvlink5 LANES_LEFT"},
    {"lane-up", 2, "repair {0}:lanes={1}", "lane-up gpu3:nvlink5 LANES_LEFT"},
    {"link-errors", 3, "{0}:{1}={2}", "link-errors gpu3:nvlink5 crc 100"},
    {"switch-down", 1, "{0}", "switch-down nvswitch1"},
    {"switch-up", 1, "repair {0}", "switch-up nvswitch1"},
    {"nic-down", 1, "{0}", "nic-down mlx5_0"},
    {"nic-up", 1, "repair {0}", "nic-up mlx5_0"},
    {"gpu-lost", 1, "{0}:xid=79", "gpu-lost gpu3"},
    {"xid", 2, "{0}:xid={1}", "xid gpu3 94"},
    {"ecc", 3, "{0}:ecc:{1}={2}", "ecc gpu3 uncorrected 1"},
    {"clique-broken", 1, "{0}:clique", "clique-broken gpu3"},
    {"fabric-manager-down", 0, "fabricmanager", "fabric-manager-down"},
    {"fabric-manager-up", 0, "repair fabricmanager", "fabric-manager-up"},
}};

/// The fault that the words mean. Words without a verb are a fault already.
Result<std::string> fault_text(const std::vector<std::string_view>& words) {
  const auto verb = std::find_if(kVerbs.begin(), kVerbs.end(),
                                 [&](const Verb& v) { return v.name == words.front(); });
  if (verb == kVerbs.end()) return fmt::format("{}", fmt::join(words, " "));
  if (words.size() != verb->words + 1)
    return fail(fmt::format("\"{}\" takes {} more word{}", verb->name, verb->words,
                            verb->words == 1 ? "" : "s"),
                verb->usage);
  std::vector<std::string_view> values(words.begin() + 1, words.end());
  values.resize(3);
  return fmt::format(fmt::runtime(verb->fault), values[0], values[1], values[2]);
}

}  // namespace

Result<TimedFault> parse_injection(const Fabric& machine, std::string_view text, Time now) {
  std::vector<std::string_view> words = split_words(text);
  TimedFault injection{now, {}};
  if (words.size() > 2 && words[words.size() - 2] == "at") {
    const auto at = parse_time(words.back());
    if (!at || *at < Time{})
      return fail(fmt::format("\"{}\" is no time", words.back()), "2s, 1500ms, 20us");
    injection.at = *at;
    words.resize(words.size() - 2);
  }
  if (words.empty())
    return fail("no fault is named", fmt::format("a fault such as gpu3:nvlink5, or one of {}",
                                                 fmt::join(injection_verbs(), ", ")));
  auto fault = fault_text(words);
  if (!fault) return tl::unexpected(fault.error());
  if (const auto parsed = parse_fault(machine, *fault); !parsed) {
    Error error = parsed.error();
    if (words.size() > 1 && error.hint.empty())
      error.hint = fmt::format("{}", fmt::join(injection_verbs(), ", "));
    return tl::unexpected(error);
  }
  injection.text = std::move(*fault);
  return injection;
}

Result<std::vector<TimedFault>> parse_script(const Fabric& machine, std::string_view text,
                                             const std::string& file) {
  std::vector<TimedFault> script;
  int number = 0;
  for (std::string_view line : split_lines(text)) {
    ++number;
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    auto injection = parse_injection(machine, line, Time{});
    if (!injection) {
      Error error = injection.error();
      error.where = {file, number, 0};
      return tl::unexpected(error);
    }
    script.push_back(std::move(*injection));
  }
  return script;
}

std::vector<std::string> injection_verbs() {
  std::vector<std::string> names;
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  return names;
}

}  // namespace isleway::vgpu
