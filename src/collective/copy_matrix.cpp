#include "isleway/collective/copy_matrix.hpp"

#include <fmt/format.h>

#include <map>

#include "collective/copy_wiring.hpp"
#include "isleway/collective/collective.hpp"

namespace isleway {
namespace {

constexpr std::uint32_t kMostGpus = 1024;
// Long enough that launching does not show, as in the tests that people run.
constexpr Bytes kCopied = Bytes::mib(512);

/// Rates of copies, remembered by what they run on: a machine has many pairs and few kinds.
class CopyClock {
 public:
  CopyClock(const Fabric& fabric, const CopyOptions& options)
      : fabric_(fabric), engine_(options.engine ? options.engine : make_analytic_engine()) {}

  /// GB/s of all copies together, run at the same time in messages of `message` bytes.
  Result<double> rate(const std::vector<Connection>& copies, Bytes message);

 private:
  using Key = std::vector<double>;
  Key key(const std::vector<Connection>& copies, Bytes message) const;

  const Fabric& fabric_;
  std::shared_ptr<const Engine> engine_;
  std::map<Key, double> known_;
};

CopyClock::Key CopyClock::key(const std::vector<Connection>& copies, Bytes message) const {
  Key key = {static_cast<double>(message.count())};
  std::map<LinkId, double> number;  // which copies meet on a link, but not on which link
  for (const Connection& copy : copies) {
    key.insert(key.end(), {copy.wire_expansion, copy.cap.bytes_per_second(), copy.latency.us(),
                           copy.overhead.us(), static_cast<double>(copy.route->hops.size())});
    for (const Hop& hop : copy.route->hops) {
      const auto [found, is_new] = number.try_emplace(hop.link, static_cast<double>(number.size()));
      const Link& link = fabric_.link(hop.link);
      key.insert(key.end(), {found->second, hop.forward ? 1.0 : 0.0, hop.share,
                             payload_rate(link, Mover::copy_engine).bytes_per_second(),
                             link.efficiency.duplex});
    }
  }
  return key;
}

Result<double> CopyClock::rate(const std::vector<Connection>& copies, Bytes message) {
  const auto [found, is_new] = known_.try_emplace(key(copies, message), 0);
  if (!is_new) return found->second;
  std::vector<std::pair<int, int>> pairs = {{0, 1}, {1, 0}};
  pairs.resize(copies.size());
  const auto schedule = make_copy(2, std::move(pairs), kCopied.count(), message.count());
  const auto outcome = engine_->run(fabric_, *schedule, CopyWiring(copies));
  if (!outcome) return tl::unexpected(outcome.error());
  const Bytes all = kCopied * static_cast<std::int64_t>(copies.size());
  return found->second = rate_of(all, outcome->time).GBs();
}

double self_copy_GBs(const Parts& parts, const Device& gpu) {
  const GpuPart* part = parts.gpu(gpu.part);
  if (part == nullptr) part = parts.guess_gpu(gpu.pci.device, gpu.gpu().sm, gpu.gpu().nvlink_links);
  return part == nullptr ? 0 : part->local_copy_rate.GBs();
}

/// Two GPUs' ways to one another through the host's memory.
struct StagedWays {
  StagedWay there, back;

  /// Copies over both at once. They point into this object.
  std::vector<Connection> exchange(const CopyPrices& prices, const Fabric& fabric) const {
    return {staged_copy(prices, fabric, there, true), staged_copy(prices, fabric, back, true)};
  }
};

/// Nothing where one of them does not reach the host or not the other.
std::optional<StagedWays> staged_ways(const Fabric& fabric, DeviceRef a, DeviceRef b,
                                      const std::optional<HostWay>& host_a,
                                      const std::optional<HostWay>& host_b) {
  if (!host_a || !host_b) return std::nullopt;
  auto there = staged_way(fabric, a, b, *host_a, *host_b);
  auto back = staged_way(fabric, b, a, *host_b, *host_a);
  if (!there || !back) return std::nullopt;
  return StagedWays{*std::move(there), *std::move(back)};
}

class MatrixMaker {
 public:
  MatrixMaker(const Fabric& fabric, const Parts& parts, const CopyPrices& prices,
              const CopyOptions& options)
      : fabric_(fabric),
        parts_(parts),
        prices_(prices),
        options_(options),
        clock_(fabric, options),
        n_(fabric.gpu_count()) {}

  Result<CopyMatrices> make();

 private:
  void fill_diagonal(GpuId gpu);
  Result<void> fill_pair(GpuId a, GpuId b);
  Result<void> fill_peers(GpuId a, GpuId b, const Route& there, const Route& back);
  Result<void> fill_staged(GpuId a, GpuId b);
  Result<void> set(Matrix& matrix, GpuId a, GpuId b, const std::vector<Connection>& copies,
                   Bytes message);

  const Fabric& fabric_;
  const Parts& parts_;
  const CopyPrices& prices_;
  const CopyOptions options_;
  CopyClock clock_;
  std::size_t n_;
  std::vector<std::optional<HostWay>> host_;
  CopyMatrices result_;
};

Result<void> MatrixMaker::set(Matrix& matrix, GpuId a, GpuId b,
                              const std::vector<Connection>& copies, Bytes message) {
  const auto rate = clock_.rate(copies, message);
  if (!rate) return tl::unexpected(rate.error());
  matrix[a][b] = *rate;
  return {};
}

void MatrixMaker::fill_diagonal(GpuId gpu) {
  const double rate = self_copy_GBs(parts_, fabric_.device(fabric_.gpu(gpu)));
  for (Matrix* matrix :
       {&result_.unidirectional_GBs, &result_.bidirectional_GBs, &result_.bidirectional_read_GBs,
        &result_.unidirectional_no_p2p_GBs, &result_.bidirectional_no_p2p_GBs})
    (*matrix)[gpu][gpu] = rate;
  result_.latency_us[gpu][gpu] = result_.latency_no_p2p_us[gpu][gpu] = prices_.launch.us();
  result_.path[gpu][gpu] = PathKind::loc;
  result_.peer_access[gpu][gpu] = true;
}

Result<void> MatrixMaker::fill_peers(GpuId a, GpuId b, const Route& there, const Route& back) {
  const std::vector<Connection> one = {peer_copy(prices_, there)};
  if (auto ok = set(result_.unidirectional_GBs, a, b, one, kCopied); !ok) return ok;
  for (const bool reading : {false, true}) {
    const auto two = peer_exchange(prices_, parts_, fabric_, there, back,
                                   {.reading = reading, .low_clock = !options_.full_clock});
    Matrix& matrix = reading ? result_.bidirectional_read_GBs : result_.bidirectional_GBs;
    if (auto ok = set(matrix, a, b, two, kCopied); !ok) return ok;
  }
  result_.latency_us[a][b] = one[0].latency.us();
  result_.peer_access[a][b] = true;
  return {};
}

Result<void> MatrixMaker::fill_staged(GpuId a, GpuId b) {
  const auto ways = staged_ways(fabric_, fabric_.gpu(a), fabric_.gpu(b), host_[a], host_[b]);
  if (!ways) return {};
  const std::vector<Connection> one = {staged_copy(prices_, fabric_, ways->there, false)};
  const std::vector<Connection> two = ways->exchange(prices_, fabric_);
  constexpr Bytes chunk = CopyPrices::kChunk;
  if (auto ok = set(result_.unidirectional_no_p2p_GBs, a, b, one, chunk); !ok) return ok;
  if (auto ok = set(result_.bidirectional_no_p2p_GBs, a, b, two, chunk); !ok) return ok;
  result_.latency_no_p2p_us[a][b] = one[0].latency.us();
  return {};
}

Result<void> MatrixMaker::fill_pair(GpuId a, GpuId b) {
  const DeviceRef from = fabric_.gpu(a), to = fabric_.gpu(b);
  result_.path[a][b] = from.unit == to.unit
                           ? path_kind(fabric_.unit(from.unit), from.device, to.device)
                           : PathKind::net;
  if (auto staged = fill_staged(a, b); !staged) return staged;
  const Route there = peer_way(fabric_, from, to), back = peer_way(fabric_, to, from);
  if (there.exists() && back.exists()) return fill_peers(a, b, there, back);
  // The tests go on without peer access, and so do copies.
  result_.unidirectional_GBs[a][b] = result_.unidirectional_no_p2p_GBs[a][b];
  result_.bidirectional_GBs[a][b] = result_.bidirectional_no_p2p_GBs[a][b];
  result_.bidirectional_read_GBs[a][b] = result_.bidirectional_no_p2p_GBs[a][b];
  result_.latency_us[a][b] = result_.latency_no_p2p_us[a][b];
  return {};
}

Result<CopyMatrices> MatrixMaker::make() {
  const Matrix empty(n_, std::vector<double>(n_, 0));
  for (Matrix* matrix :
       {&result_.unidirectional_GBs, &result_.bidirectional_GBs, &result_.bidirectional_read_GBs,
        &result_.unidirectional_no_p2p_GBs, &result_.bidirectional_no_p2p_GBs, &result_.latency_us,
        &result_.latency_no_p2p_us})
    *matrix = empty;
  result_.path.assign(n_, std::vector<PathKind>(n_, PathKind::dis));
  result_.peer_access.assign(n_, std::vector<bool>(n_, false));
  for (GpuId gpu = 0; gpu < n_; ++gpu) host_.push_back(host_way(fabric_, fabric_.gpu(gpu)));

  for (GpuId a = 0; a < n_; ++a)
    for (GpuId b = 0; b < n_; ++b) {
      if (a == b) {
        fill_diagonal(a);
      } else if (auto filled = fill_pair(a, b); !filled) {
        return tl::unexpected(filled.error());
      }
    }
  return std::move(result_);
}

}  // namespace

Result<CopyMatrices> copy_matrices(const Fabric& fabric, const Parts& parts,
                                   const CopyOptions& options) {
  if (fabric.gpu_count() > kMostGpus)
    return fail(fmt::format("a matrix of {} GPUs is too large", fabric.gpu_count()),
                fmt::format("at most {} GPUs", kMostGpus), "pick some, as with --gpus 0,1,4");
  const auto prices = CopyPrices::from(parts);
  if (!prices) return tl::unexpected(prices.error());
  return MatrixMaker(fabric, parts, *prices, options).make();
}

Result<HostCopies> host_copies(const Fabric& fabric, const Parts& parts,
                               const CopyOptions& options) {
  const auto prices = CopyPrices::from(parts);
  if (!prices) return tl::unexpected(prices.error());
  CopyClock clock(fabric, options);
  HostCopies copies;
  for (GpuId gpu = 0; gpu < fabric.gpu_count(); ++gpu) {
    const auto way = host_way(fabric, fabric.gpu(gpu));
    double up = 0, down = 0;
    if (way) {
      const auto to_host = clock.rate({host_copy(*prices, way->up)}, kCopied);
      const auto from_host = clock.rate({host_copy(*prices, way->down)}, kCopied);
      if (!to_host) return tl::unexpected(to_host.error());
      if (!from_host) return tl::unexpected(from_host.error());
      up = *to_host;
      down = *from_host;
    }
    copies.host_to_device_GBs.push_back(down);
    copies.device_to_host_GBs.push_back(up);
  }
  return copies;
}

Result<double> exchange_rate(const Fabric& fabric, const Parts& parts, GpuId a, GpuId b,
                             const CopyOptions& options) {
  const auto prices = CopyPrices::from(parts);
  if (!prices) return tl::unexpected(prices.error());
  const DeviceRef from = fabric.gpu(a), to = fabric.gpu(b);
  CopyClock clock(fabric, options);
  const Route there = peer_way(fabric, from, to), back = peer_way(fabric, to, from);
  if (there.exists() && back.exists())
    return clock.rate(peer_exchange(*prices, parts, fabric, there, back,
                                    {.reading = false, .low_clock = !options.full_clock}),
                      kCopied);
  if (const auto ways = staged_ways(fabric, from, to, host_way(fabric, from), host_way(fabric, to)))
    return clock.rate(ways->exchange(*prices, fabric), CopyPrices::kChunk);
  return fail(
      fmt::format("nothing joins {} and {}", fabric.device_name(from), fabric.device_name(to)));
}

}  // namespace isleway
