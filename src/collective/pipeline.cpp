#include "collective/pipeline.hpp"

namespace isleway {

std::vector<CriticalStep> pipeline_path(const std::vector<Leg>& hops, std::size_t loaded,
                                        const Loops& loops) {
  std::vector<CriticalStep> path;
  if (hops.empty() || loops.loops() == 0) return path;
  const std::int64_t first = loops.piece(0, 0, 0).bytes;
  for (const Leg& hop : hops) path.push_back({hop.from, hop.to, first});
  path[loaded].bytes = 0;
  const std::int64_t others = loops.slices_in_all() - 1;
  if (others > 0)
    path.push_back({hops[loaded].from, hops[loaded].to, 0, static_cast<double>(others),
                    CriticalStep::kAllHidden});
  return path;
}

}  // namespace isleway
