// How long groups of a job's ranks take to tell one another things.
#pragma once

#include <array>
#include <compare>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "isleway/nccl.hpp"

namespace isleway::plan {

/// Ranks of one group by rule: `count[0]` ranks `stride[0]` apart, and so many such runs
/// `stride[1]` apart. All groups of a job that differ in the other dimensions look alike and
/// are at work at the same time.
struct GroupShape {
  std::array<int, 2> count = {1, 1};
  std::array<int, 2> stride = {1, 1};

  int ranks() const { return count[0] * count[1]; }
  friend auto operator<=>(const GroupShape&, const GroupShape&) = default;
};

/// Time of one collective in one group over size, between sizes that were simulated.
struct CostCurve {
  std::vector<double> log_bytes, log_seconds;
  double floor = 0;                  ///< seconds of the smallest size
  std::string bottleneck;            ///< link that decides at large sizes
  LinkKind tier = LinkKind::nvlink;  ///< slowest kind of link that the group's ranks use
  int hosts = 1;                     ///< that the group spans

  /// Seconds; `bytes` as nccl-tests counts them. 0 for no bytes.
  double seconds(double bytes) const;
};

/// A job's GPUs and what joins them. Curves are made when first asked for, from Isleway's
/// collectives, and kept. Safe to use from several threads.
class Interconnect {
 public:
  /// `fabric` holds the job's GPUs only, in rank order.
  Interconnect(Fabric fabric, const Parts& parts, nccl::Options options = {});
  ~Interconnect();

  const Fabric& fabric() const { return fabric_; }
  int ranks() const { return static_cast<int>(fabric_.gpu_count()); }
  /// GPUs that reach one another over NVLink, or within a host where there is none: the
  /// smallest such domain.
  int domain_size() const { return domain_size_; }
  bool has_nvlink() const { return has_nvlink_; }
  int gpus_per_host() const { return gpus_per_host_; }

  /// Curve of a collective in a group. Error: NCCL's reason, as for GPUs that nothing joins.
  Result<const CostCurve*> curve(Collective collective, const GroupShape& shape) const;

 private:
  struct Key {
    Collective collective;
    GroupShape shape;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Group;
  template <class T>
  struct Made;  ///< once, by whoever asks first
  Result<CostCurve> make(const Key& key) const;
  Result<CostCurve> simulate(Collective collective, const GroupShape& shape,
                             std::int64_t largest) const;
  const Result<Group>& group(const GroupShape& shape) const;

  Fabric fabric_;
  const Parts& parts_;
  nccl::Options options_;
  int domain_size_ = 1, gpus_per_host_ = 1;
  bool has_nvlink_ = false;
  mutable std::mutex mutex_;
  mutable std::map<Key, std::unique_ptr<Made<CostCurve>>> curves_;
  mutable std::map<GroupShape, std::unique_ptr<Made<Group>>> groups_;
};

}  // namespace isleway::plan
