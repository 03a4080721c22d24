#include "isleway/plan/even_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "isleway/fabric/join.hpp"

namespace isleway::plan {
namespace {

using Hosts = std::map<std::uint32_t, std::vector<GpuId>>;

/// The first `each` GPUs of every host that has so many.
std::vector<GpuId> some_of(const Hosts& hosts, std::size_t each) {
  std::vector<GpuId> ranks;
  for (const auto& [host, gpus] : hosts)
    if (gpus.size() >= each)
      ranks.insert(ranks.end(), gpus.begin(), gpus.begin() + static_cast<std::ptrdiff_t>(each));
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

}  // namespace

std::vector<EvenPart> even_parts(const Fabric& fabric) {
  std::vector<EvenPart> parts = {{"", fabric}};
  Hosts hosts;
  for (GpuId gpu = 0; gpu < fabric.gpu_count(); ++gpu)
    hosts[fabric.host_of(fabric.gpu(gpu))].push_back(gpu);
  std::size_t least = fabric.gpu_count(), most = 0;
  for (const auto& [host, gpus] : hosts) {
    least = std::min(least, gpus.size());
    most = std::max(most, gpus.size());
  }
  if (least == 0) return parts;
  const auto add = [&](std::string what, std::size_t each) {
    const std::vector<GpuId> ranks = some_of(hosts, each);
    for (const EvenPart& part : parts)
      if (part.fabric.gpu_count() == ranks.size()) return;
    if (auto fewer = with_ranks(fabric, ranks)) parts.push_back({std::move(what), *fewer});
  };
  if (most > least) add(fmt::format("hosts with {} GPUs", most), most);
  add(fmt::format("{} GPUs of each host", least), least);
  add(fmt::format("{} GPUs of each host", std::bit_floor(least)), std::bit_floor(least));
  return parts;
}

}  // namespace isleway::plan
