// The fabric as packets see it, shared by all of its regions: ports, and ways through them.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "engine/packet/paths.hpp"
#include "engine/packet/ports.hpp"
#include "engine/packet/regions.hpp"

namespace isleway {

/// Ports belong to one region each, which alone looks at them while time passes; what is shared
/// does not change then, unless there is one region.
class Wires {
 public:
  Wires(const Fabric& fabric, const PacketOptions& options, const Regions& regions)
      : fabric_(fabric),
        options_(options),
        regions_(regions),
        ends_(fabric),
        ports_(fabric, options, regions) {}

  using PathSet = std::vector<Path>;
  /// A way for each plane of the connection's route. Error: hops that do not join, or a link that
  /// carries nothing (which).
  Result<const PathSet*> paths(const Connection& connection);

  const Fabric& fabric() const { return fabric_; }
  const PacketOptions& options() const { return options_; }
  const Regions& regions() const { return regions_; }
  Ports& ports() { return ports_; }

 private:
  Result<PathHop> hop(const Hop& hop, Mover mover, std::size_t number);
  std::int64_t usual_train(const Path& path) const;
  Result<Path> path(const PlanePath& plane, Mover mover);

  const Fabric& fabric_;
  const PacketOptions& options_;
  const Regions& regions_;
  LinkEnds ends_;
  Ports ports_;
  std::map<std::pair<const Route*, Mover>, PathSet> path_sets_;
};

}  // namespace isleway
