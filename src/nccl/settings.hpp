// The NCCL_* environment, typed.
#pragma once

#include <array>
#include <optional>

#include "isleway/nccl/communicator.hpp"
#include "nccl/tables.hpp"

namespace isleway::nccl {

/// The collectives that the tuner decides for.
inline constexpr int kTunedCollectives = 5;
constexpr bool is_tuned(Collective c) { return static_cast<int>(c) < kTunedCollectives; }

/// Which of N things a user allows, for each tuned collective.
template <std::size_t N>
struct Allowed {
  std::array<std::array<bool, N>, kTunedCollectives> mask{};
  std::array<bool, kTunedCollectives> named{};  ///< the user said something about it

  bool operator()(Collective c, std::size_t what) const {
    return mask[static_cast<std::size_t>(c)][what];
  }
  bool is_named(Collective c) const { return named[static_cast<std::size_t>(c)]; }
};

struct Settings {
  Version version;
  Allowed<kAlgorithmCount> algorithms;
  Allowed<kProtocolCount> protocols;

  std::optional<int> threads, ll128_threads;
  std::optional<int> min_channels, max_channels, nvls_channels, min_p2p_channels, max_p2p_channels,
      channels_per_net_peer;
  std::optional<std::int64_t> buffer_simple, buffer_ll, buffer_ll128;
  std::optional<std::int64_t> nvls_chunk, nvls_tree_max_chunk, p2p_net_chunk, p2p_pci_chunk,
      p2p_nvl_chunk, p2p_ll_threshold;
  std::optional<int> net_overhead_ns;
  std::optional<PathKind> p2p_level, gdr_level;
  std::optional<bool> gdr_read;
  int cross_nic = 2;      ///< 0 never, 1 as it likes, 2 only when it helps
  int collnet_nodes = 2;  ///< CollNet from so many nodes on
  int pxn_level = 2;
  int qps_per_connection = 1;
  bool p2p = true, shm = true, nvb = true, pxn = true, nvls = true, mnnvl = true, pat = true;
  bool collnet = false, net_gdr_c2c = true, pxn_c2c = true, ll128_c2c = true;

  std::string graph_file;  ///< NCCL_GRAPH_FILE

  std::vector<std::string> remarks;  ///< what was not understood or does nothing here

  /// Error: a value that NCCL would refuse or silently misread.
  static Result<Settings> parse(const std::map<std::string, std::string>& env, Version version);
};

/// "NVL", "PIX", "PXB", "PHB", "NODE", "SYS", or the older numbers 0 to 5.
std::optional<PathKind> parse_level(std::string_view text);

}  // namespace isleway::nccl
