#include "nccl/selection.hpp"

#include "isleway/core.hpp"

namespace isleway::nccl {
namespace {

/// The function names that may stand before a colon.
std::optional<std::size_t> parse_function(std::string_view text) {
  std::string plain = to_lower(trim(text));
  std::erase(plain, '_');
  constexpr std::string_view kNames[] = {"allreduce", "allgather", "reducescatter", "broadcast",
                                         "reduce"};
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    if (plain == kNames[i]) return i;
  return std::nullopt;
}

template <std::size_t N, class Parse>
Result<std::array<bool, N>> parse_list(std::string_view text, Parse parse) {
  text = trim(text);
  const bool except = !text.empty() && text.front() == '^';
  if (except) text.remove_prefix(1);
  std::array<bool, N> mask;
  mask.fill(except);
  for (const std::string_view piece : split(text, ',')) {
    const auto value = parse(trim(piece));
    if (!value) return tl::unexpected(value.error());
    const auto i = static_cast<std::size_t>(*value);
    if (i < N) mask[i] = !except;
  }
  return mask;
}

template <std::size_t N, class Parse>
Result<Allowed<N>> parse_allowed(std::string_view text, Version version, Parse parse) {
  Allowed<N> allowed = all_allowed<N>();
  for (const std::string_view section : split(text, ';')) {
    const auto colon = section.find(':');
    const bool one = colon != std::string_view::npos;
    if (one && version < release(2, 24))
      return fail("NCCL " + version.text() + " does not take settings for one function (\"" +
                      std::string(section) + "\")",
                  "a list for all functions", "functions can be named from NCCL 2.24 on");
    std::optional<std::size_t> function;
    if (one) {
      function = parse_function(section.substr(0, colon));
      if (!function)
        return fail("there is no function \"" + std::string(section.substr(0, colon)) + "\"",
                    "allreduce, allgather, reducescatter, broadcast or reduce");
    }
    const auto mask = parse_list<N>(one ? section.substr(colon + 1) : section, parse);
    if (!mask) return tl::unexpected(mask.error());
    for (std::size_t i = 0; i < kTunedCollectives; ++i) {
      if (function && *function != i) continue;
      allowed.mask[i] = *mask;
      allowed.named[i] = true;
    }
  }
  return allowed;
}

}  // namespace

Result<Allowed<kAlgorithmCount>> parse_algorithms(std::string_view text, Version version) {
  return parse_allowed<kAlgorithmCount>(text, version, parse_algorithm);
}

Result<Allowed<kProtocolCount>> parse_protocols(std::string_view text, Version version) {
  return parse_allowed<kProtocolCount>(text, version, parse_protocol);
}

}  // namespace isleway::nccl
