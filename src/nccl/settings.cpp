#include "nccl/settings.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>

#include "isleway/core.hpp"
#include "nccl/selection.hpp"

namespace isleway::nccl {
namespace {

using Apply = std::function<Result<void>(Settings&, const std::string&)>;

Result<std::int64_t> whole_number(const std::string& text) {
  const auto value = parse_int(trim(text));
  if (!value || *value < 0) return fail(fmt::format("\"{}\" is no whole number", text));
  return *value;
}

template <class T>
Apply number(std::optional<T> Settings::*field, std::int64_t least, std::int64_t most) {
  return [=](Settings& settings, const std::string& text) -> Result<void> {
    const auto value = whole_number(text);
    if (!value) return tl::unexpected(value.error());
    if (*value < least || *value > most)
      return fail(fmt::format("{} is out of range", *value), fmt::format("{} to {}", least, most));
    settings.*field = static_cast<T>(*value);
    return {};
  };
}

Apply plain_number(int Settings::*field, std::int64_t most) {
  return [=](Settings& settings, const std::string& text) -> Result<void> {
    const auto value = whole_number(text);
    if (!value) return tl::unexpected(value.error());
    if (*value > most)
      return fail(fmt::format("{} is out of range", *value), fmt::format("0 to {}", most));
    settings.*field = static_cast<int>(*value);
    return {};
  };
}

/// NCCL reads switches as numbers: 0 is off, anything else on. `inverted`: *_DISABLE.
Apply flag(bool Settings::*field, bool inverted = false) {
  return [=](Settings& settings, const std::string& text) -> Result<void> {
    const auto value = parse_int(trim(text));
    if (!value) return fail(fmt::format("\"{}\" is no switch", text), "0 or 1");
    settings.*field = (*value != 0) != inverted;
    return {};
  };
}

Apply level(std::optional<PathKind> Settings::*field) {
  return [=](Settings& settings, const std::string& text) -> Result<void> {
    settings.*field = parse_level(text);
    if (!(settings.*field))
      return fail(fmt::format("\"{}\" is no distance", text),
                  "LOC, NVL, PIX, PXB, PHB, NODE or SYS");
    return {};
  };
}

constexpr std::int64_t kMostChannels = 64;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

const std::map<std::string, Apply, std::less<>>& variables() {
  static const std::map<std::string, Apply, std::less<>> all = {
      {"NCCL_ALGO",
       [](Settings& s, const std::string& text) -> Result<void> {
         auto allowed = parse_algorithms(text, s.version);
         if (!allowed) return tl::unexpected(allowed.error());
         s.algorithms = *allowed;
         return {};
       }},
      {"NCCL_PROTO",
       [](Settings& s, const std::string& text) -> Result<void> {
         auto allowed = parse_protocols(text, s.version);
         if (!allowed) return tl::unexpected(allowed.error());
         s.protocols = *allowed;
         return {};
       }},
      {"NCCL_GRAPH_FILE",
       [](Settings& s, const std::string& text) -> Result<void> {
         s.graph_file = text;
         return {};
       }},
      {"NCCL_NTHREADS", number(&Settings::threads, 64, 1024)},
      {"NCCL_LL128_NTHREADS", number(&Settings::ll128_threads, 64, 1024)},
      {"NCCL_MIN_NCHANNELS", number(&Settings::min_channels, 0, kMostChannels)},
      {"NCCL_MAX_NCHANNELS", number(&Settings::max_channels, 1, 1024)},
      {"NCCL_MIN_CTAS", number(&Settings::min_channels, 0, kMostChannels)},
      {"NCCL_MAX_CTAS", number(&Settings::max_channels, 1, 1024)},
      {"NCCL_NVLS_NCHANNELS", number(&Settings::nvls_channels, 1, kMostChannels)},
      {"NCCL_MIN_P2P_NCHANNELS", number(&Settings::min_p2p_channels, 1, kMostChannels)},
      {"NCCL_MAX_P2P_NCHANNELS", number(&Settings::max_p2p_channels, 1, kMostChannels)},
      {"NCCL_NCHANNELS_PER_NET_PEER", number(&Settings::channels_per_net_peer, 1, kMostChannels)},
      {"NCCL_BUFFSIZE", number(&Settings::buffer_simple, 1 << 10, kMostBytes)},
      {"NCCL_LL_BUFFSIZE", number(&Settings::buffer_ll, 1 << 10, kMostBytes)},
      {"NCCL_LL128_BUFFSIZE", number(&Settings::buffer_ll128, 1 << 10, kMostBytes)},
      {"NCCL_NVLS_CHUNKSIZE", number(&Settings::nvls_chunk, 1 << 10, kMostBytes)},
      {"NCCL_NVLSTREE_MAX_CHUNKSIZE", number(&Settings::nvls_tree_max_chunk, 1 << 10, kMostBytes)},
      {"NCCL_P2P_NET_CHUNKSIZE", number(&Settings::p2p_net_chunk, 1 << 10, kMostBytes)},
      {"NCCL_P2P_PCI_CHUNKSIZE", number(&Settings::p2p_pci_chunk, 1 << 10, kMostBytes)},
      {"NCCL_P2P_NVL_CHUNKSIZE", number(&Settings::p2p_nvl_chunk, 1 << 10, kMostBytes)},
      {"NCCL_P2P_LL_THRESHOLD", number(&Settings::p2p_ll_threshold, 0, kMostBytes)},
      {"NCCL_NET_OVERHEAD", number(&Settings::net_overhead_ns, 0, 1'000'000'000)},
      {"NCCL_P2P_LEVEL", level(&Settings::p2p_level)},
      {"NCCL_NET_GDR_LEVEL", level(&Settings::gdr_level)},
      {"NCCL_NET_GDR_READ",
       [](Settings& s, const std::string& text) -> Result<void> {
         const auto value = parse_int(trim(text));
         if (!value) return fail(fmt::format("\"{}\" is no switch", text), "0 or 1");
         s.gdr_read = *value != 0;
         return {};
       }},
      {"NCCL_CROSS_NIC", plain_number(&Settings::cross_nic, 2)},
      {"NCCL_P2P_PXN_LEVEL", plain_number(&Settings::pxn_level, 2)},
      {"NCCL_IB_QPS_PER_CONNECTION", plain_number(&Settings::qps_per_connection, 128)},
      {"NCCL_P2P_DISABLE", flag(&Settings::p2p, true)},
      {"NCCL_SHM_DISABLE", flag(&Settings::shm, true)},
      {"NCCL_NVB_DISABLE", flag(&Settings::nvb, true)},
      {"NCCL_PXN_DISABLE", flag(&Settings::pxn, true)},
      {"NCCL_PXN_C2C", flag(&Settings::pxn_c2c)},
      {"NCCL_NET_GDR_C2C", flag(&Settings::net_gdr_c2c)},
      {"NCCL_LL128_C2C", flag(&Settings::ll128_c2c)},
      {"NCCL_NVLS_ENABLE", flag(&Settings::nvls)},
      {"NCCL_MNNVL_ENABLE", flag(&Settings::mnnvl)},
      {"NCCL_PAT_ENABLE", flag(&Settings::pat)},
      {"NCCL_COLLNET_NODE_THRESHOLD", plain_number(&Settings::collnet_nodes, 1 << 20)},
      {"NCCL_COLLNET_ENABLE", flag(&Settings::collnet)},
  };
  return all;
}

/// Real settings that change nothing here: how bytes get to the wire, names, logs.
constexpr std::array<std::string_view, 14> kWithoutEffect = {
    "NCCL_DEBUG",  "NCCL_IB_",       "NCCL_SOCKET_", "NCCL_NSOCKS_", "NCCL_NET",
    "NCCL_TUNER_", "NCCL_PROFILER_", "NCCL_TOPO_",   "NCCL_GRAPH_",  "NCCL_COMM_",
    "NCCL_HOSTID", "NCCL_CUMEM_",    "NCCL_LAUNCH_", "NCCL_SET_"};

std::string remark_on(const std::string& name) {
  for (const std::string_view prefix : kWithoutEffect)
    if (name.starts_with(prefix)) return name + " has no effect in this model";
  std::vector<std::string> known;
  for (const auto& [key, apply] : variables()) known.push_back(key);
  const std::string near = closest(name, known);
  return name + " is not known to this model" +
         (near.empty() ? "" : "; did you mean " + near + "?");
}

}  // namespace

std::optional<PathKind> parse_level(std::string_view text) {
  using enum PathKind;
  // The numbers are those of NCCL before it had names for distances; "2" was a host bridge.
  constexpr PathKind kNumbered[] = {loc, pix, pxb, phb, sys, sys};
  if (const auto number = parse_int(trim(text)))
    return *number >= 0 && *number < 6 ? std::optional(kNumbered[*number]) : std::nullopt;
  if (equal_ignoring_case(trim(text), "LOC")) return loc;
  if (equal_ignoring_case(trim(text), "NODE")) return phb;
  for (const PathKind kind : {nvl, nvb, c2c, pix, pxb, p2c, pxn, phb, sys})
    if (equal_ignoring_case(trim(text), name_of(kind))) return kind;
  return std::nullopt;
}

Result<Settings> Settings::parse(const std::map<std::string, std::string>& env, Version version) {
  Settings settings;
  settings.version = version;
  settings.algorithms = all_allowed<kAlgorithmCount>();
  settings.protocols = all_allowed<kProtocolCount>();
  for (const auto& [name, value] : env) {
    const auto variable = variables().find(name);
    if (variable == variables().end()) {
      settings.remarks.push_back(remark_on(name));
      continue;
    }
    if (auto applied = variable->second(settings, value); !applied) {
      Error error = applied.error();
      error.what = name + "=" + value + ": " + error.what;
      return tl::unexpected(error);
    }
  }
  return settings;
}

}  // namespace isleway::nccl
