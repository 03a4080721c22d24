#include "collective/nvls_layout.hpp"

#include <fmt/format.h>

#include "collective/arguments.hpp"

namespace isleway {

Result<NvlsLayout> NvlsLayout::create(std::vector<std::vector<int>> islands, int ranks, int heads,
                                      bool network) {
  if (heads < 1) return fail(fmt::format("NVLS with {} heads", heads), "at least 1");
  std::vector<int> all;
  for (std::size_t i = 0; i < islands.size(); ++i) {
    if (static_cast<int>(islands[i].size()) < heads)
      return fail(fmt::format("island {} has {} ranks", i, islands[i].size()),
                  fmt::format("at least one for each of {} heads", heads));
    all.insert(all.end(), islands[i].begin(), islands[i].end());
  }
  if (auto ok = check_every_rank_once(all, ranks, "the list of islands"); !ok)
    return tl::unexpected(ok.error());

  NvlsLayout layout;
  layout.heads_ = heads;
  layout.network_ = network;
  layout.island_of_.resize(ranks);
  layout.head_index_.resize(ranks, -1);
  for (std::size_t i = 0; i < islands.size(); ++i) {
    for (const int rank : islands[i]) layout.island_of_[rank] = static_cast<int>(i);
    for (int h = 0; h < heads; ++h) layout.head_index_[islands[i][h]] = h;
  }
  layout.islands_ = std::move(islands);
  return layout;
}

}  // namespace isleway
