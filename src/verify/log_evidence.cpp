#include "verify/log_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace isleway::verify {
namespace {

using Mentions = std::vector<formats::NcclInfo::Mention>;

/// Which hypothesis a text in the log points to, and where such texts are gathered.
struct Sign {
  const char* key;
  Mentions formats::NcclInfo::*where;
  const char* start;  ///< of the text
};

constexpr Sign kSigns[] = {
    {"nvls-off", &formats::NcclInfo::remarks, "NVLS multicast"},
    {"nvls-off", &formats::NcclInfo::settings, "NCCL_NVLS_ENABLE=0"},
    {"nvls-off", &formats::NcclInfo::settings, "NCCL_CUMEM_ENABLE=0"},
    {"nvls-off", &formats::NcclInfo::settings, "NCCL_ALGO="},
    {"p2p-off", &formats::NcclInfo::transports, "SHM"},
    {"p2p-off", &formats::NcclInfo::remarks, "P2P is disabled"},
    {"p2p-off", &formats::NcclInfo::remarks, "Could not enable P2P"},
    {"p2p-off", &formats::NcclInfo::settings, "NCCL_P2P_DISABLE="},
    {"p2p-off", &formats::NcclInfo::settings, "NCCL_P2P_LEVEL="},
    {"nvlink-and-p2p-off", &formats::NcclInfo::transports, "SHM"},
    {"gdr-off", &formats::NcclInfo::remarks, "GPU Direct RDMA Disabled"},
    {"gdr-off", &formats::NcclInfo::settings, "NCCL_NET_GDR_LEVEL="},
    {"sockets", &formats::NcclInfo::transports, "NET/Socket"},
    {"sockets", &formats::NcclInfo::networks, "Socket"},
    {"sockets", &formats::NcclInfo::remarks, "NET/IB : No device"},
    {"sockets", &formats::NcclInfo::remarks, "Failed to open libibverbs"},
    {"sockets", &formats::NcclInfo::settings, "NCCL_IB_DISABLE="},
    {"ring-forced", &formats::NcclInfo::settings, "NCCL_ALGO="},
    {"tree-forced", &formats::NcclInfo::settings, "NCCL_ALGO="},
    {"ll-forced", &formats::NcclInfo::settings, "NCCL_PROTO="},
    {"ll128-off", &formats::NcclInfo::settings, "NCCL_PROTO="},
    {"simple-forced", &formats::NcclInfo::settings, "NCCL_PROTO="},
    {"one-channel", &formats::NcclInfo::settings, "NCCL_MAX_"},
    {"four-channels", &formats::NcclInfo::settings, "NCCL_MAX_"},
    {"pxn-off", &formats::NcclInfo::settings, "NCCL_PXN_DISABLE="},
    {"mnnvl-off", &formats::NcclInfo::settings, "NCCL_MNNVL_ENABLE="},
    {"mnnvl-off", &formats::NcclInfo::settings, "NCCL_CUMEM_ENABLE=0"},
    {"one-rail", &formats::NcclInfo::settings, "NCCL_IB_HCA="},
    {"half-of-rails", &formats::NcclInfo::settings, "NCCL_IB_HCA="},
    {"one-rail-missing", &formats::NcclInfo::settings, "NCCL_IB_HCA="},
};

/// "sockets-one" is a way to have "sockets".
std::string_view family(std::string_view key) {
  return key.starts_with("sockets") ? std::string_view("sockets") : key;
}

bool any(const Mentions& mentions, std::string_view start) {
  return std::any_of(mentions.begin(), mentions.end(), [&](const auto& one) {
    return std::string_view(one.text).starts_with(start);
  });
}

}  // namespace

std::vector<std::string> evidence_for(const std::string& key, const formats::NcclInfo& log) {
  std::vector<std::string> evidence;
  for (const Sign& sign : kSigns) {
    if (family(key) != sign.key) continue;
    for (const auto& mention : log.*sign.where) {
      if (!std::string_view(mention.text).starts_with(sign.start)) continue;
      evidence.push_back(mention.count == 1 ? fmt::format("line {}: {}", mention.line, mention.text)
                                            : fmt::format("line {} and {} more: {}", mention.line,
                                                          mention.count - 1, mention.text));
    }
  }
  return evidence;
}

bool is_refuted(const std::string& key, const formats::NcclInfo& log) {
  if (key == "nvls-off") return log.nvls_channels > 0;
  if (log.transports.empty()) return false;
  const bool shm = any(log.transports, "SHM"), net = any(log.transports, "NET/");
  const bool sockets = any(log.transports, "NET/Socket");
  if (key == "p2p-off" || key == "nvlink-and-p2p-off") return !shm;
  if (family(key) == "sockets") return net && !sockets;
  if (key == "gdr-off")
    return net && std::all_of(log.transports.begin(), log.transports.end(), [](const auto& one) {
             return !std::string_view(one.text).starts_with("NET/") ||
                    std::string_view(one.text).ends_with("GDRDMA");
           });
  return false;
}

}  // namespace isleway::verify
