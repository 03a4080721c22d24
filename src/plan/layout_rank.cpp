#include "isleway/plan/layout_rank.hpp"

#include <fmt/format.h>

#include "fabric/yaml_reader.hpp"
#include "isleway/core.hpp"
#include "isleway/plan/slowest_gpu.hpp"
#include "isleway/plan/train_search.hpp"

namespace isleway::plan {
namespace {

/// Ranks beyond this are not told apart.
constexpr std::size_t kTop = 50;

bool same_division(const TrainLayout& a, const TrainLayout& b) {
  return a.tensor == b.tensor && a.context == b.context && a.pipeline == b.pipeline &&
         a.expert == b.expert;
}

LayoutRank rank_one(const RunSource& source, const TrainRun& run, const Catalogue& catalogue,
                    const ComputeCatalogue& compute, const model::ModelCatalogue& models) {
  LayoutRank rank;
  rank.source = &source;
  rank.run = &run;
  const auto give_up = [&](const Error& error) {
    rank.left_out = error.what;
    return rank;
  };
  auto transformer = model_of(source, run.model, models);
  if (!transformer) return give_up(transformer.error());
  auto fabric = fabric_of(run.platform, catalogue);
  if (!fabric) return give_up(fabric.error());
  const auto gpu = slowest_gpu(*fabric, compute, catalogue.parts());
  if (!gpu) return give_up(gpu.error());
  const auto framework = parse_framework(run.framework);
  if (!framework) return give_up(framework.error());
  const auto layout = parse_layout(run.layout, run.platform.gpus);
  if (!layout) return give_up(layout.error());
  TrainJob job;
  job.model = std::move(*transformer);
  job.sequence = run.sequence;
  job.global_batch = run.batch;
  job.precision = run.precision;
  job.framework = *framework;
  const Interconnect interconnect(std::move(*fabric), catalogue.parts());
  const TrainModel model(std::move(job), interconnect, gpu->compute, catalogue.parts(),
                         gpu->memory);
  SearchOptions options;
  options.top = kTop;
  options.all_orders = false;
  const auto found = search_layouts(model, options);
  if (!found) return give_up(found.error());
  const auto own = model.price(*layout);
  if (!own) return give_up(own.error());
  if (found->best.empty()) {
    rank.left_out = "no layout fits";
    return rank;
  }
  rank.best = short_text(found->best.front().layout);
  rank.slower = own->step.seconds() / found->best.front().step.seconds();
  for (std::size_t i = 0; i < found->best.size(); ++i)
    if (same_division(found->best[i].layout, *layout)) {
      rank.rank = i + 1;
      break;
    }
  return rank;
}

}  // namespace

Result<std::vector<LayoutRank>> rank_layouts(const std::filesystem::path& path,
                                             std::span<const RunSource> sources,
                                             const Catalogue& catalogue,
                                             const ComputeCatalogue& compute,
                                             const model::ModelCatalogue& models) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  auto file = YamlFile::parse(*text, path.string());
  if (!file) return tl::unexpected(file.error());
  YamlMap root(*file, file->root(), "the file");
  std::vector<LayoutRank> ranks;
  for (const std::string& id : root.texts("runs")) {
    bool known = false;
    for (const RunSource& source : sources)
      for (const TrainRun& run : source.training) {
        if (run.id != id) continue;
        known = true;
        ranks.push_back(rank_one(source, run, catalogue, compute, models));
      }
    if (!known) file->fail(root.node(), fmt::format("no run is called '{}'", id));
  }
  root.finish();
  if (!file->ok()) return tl::unexpected(*file->error());
  return ranks;
}

}  // namespace isleway::plan
