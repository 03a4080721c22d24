// Over which links copies run, and how fast: the same rates as `isleway p2p` prints.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "isleway/collective/copy_matrix.hpp"
#include "isleway/fabric.hpp"
#include "virtual/device/present.hpp"
#include "virtual/device/timeline.hpp"

namespace isleway::vgpu {

/// Paths of one state of the machine in one timeline, made when first asked for. GPUs and links
/// are numbered as in the machine that the run began with.
class Copies {
 public:
  Copies(std::shared_ptr<const Present> present, const Parts& parts, Timeline& timeline)
      : present_(std::move(present)),
        fabric_(present_->fabric()),
        parts_(parts),
        timeline_(timeline) {}

  /// Nothing stands for host memory. `peers`: with peer access, else through the host. Error: there
  /// is no way.
  Result<Flow> flow(std::optional<GpuId> from, std::optional<GpuId> to, bool peers,
                    std::uint64_t bytes);
  /// One write that the switches bring to all of `to`. Error: there is no way to one of them.
  Result<Flow> multicast(GpuId from, const std::vector<GpuId>& to, std::uint64_t bytes);
  /// Of the way between two GPUs, or to host memory; nothing: there is none.
  std::optional<Time> latency(GpuId from, std::optional<GpuId> to) const;
  /// The bytes of a flow crossed these links.
  void count(std::optional<GpuId> from, std::optional<GpuId> to, bool peers, std::uint64_t bytes,
             const std::function<void(LinkId, bool forward, std::uint64_t)>& counter) const;

 private:
  using Key = std::tuple<std::int64_t, std::int64_t, bool>;
  struct Priced {
    Route route;
    double alone_GBs = 0, against_GBs = 0;  ///< of this one, with one the other way
    Time latency;
  };
  Result<Priced> price(std::optional<GpuId> from, std::optional<GpuId> to, bool peers);
  Result<std::uint32_t> path(const Key& key, const Priced& priced);
  Result<const CopyMatrices*> matrices();
  std::uint32_t resource(LinkId link, bool forward);
  std::uint32_t memory_resource(GpuId gpu, double rate);

  std::shared_ptr<const Present> present_;
  std::shared_ptr<const Fabric> fabric_;
  const Parts& parts_;
  Timeline& timeline_;
  std::optional<CopyMatrices> matrices_;
  std::optional<HostCopies> host_;
  std::map<Key, std::pair<std::uint32_t, Priced>> known_;
  std::map<std::pair<LinkId, bool>, std::uint32_t> resources_;
  std::map<GpuId, std::uint32_t> memories_;
  std::map<std::pair<GpuId, std::vector<GpuId>>, std::pair<std::uint32_t, Time>> multicasts_;
};

}  // namespace isleway::vgpu
