#include "collective/pipeline.hpp"

namespace isleway {

std::vector<CriticalStep> pipeline_path(const std::vector<Leg>& legs, std::size_t loaded,
                                        const Loops& loops) {
  std::vector<CriticalStep> path;
  if (legs.empty() || loops.loops() == 0) return path;
  const std::int64_t first = loops.piece(0, 0, 0).bytes;
  for (const Leg& leg : legs) path.push_back({leg.from, leg.to, first});
  path[loaded].bytes = 0;
  const std::int64_t others = loops.slices_in_all() - 1;
  if (others > 0)
    path.push_back({legs[loaded].from, legs[loaded].to, 0, static_cast<double>(others),
                    CriticalStep::kAllHidden});
  return path;
}

}  // namespace isleway
