#include "isleway/plan/layout_rank.hpp"

#include <fmt/format.h>

#include "fabric/yaml_reader.hpp"
#include "isleway/core.hpp"
#include "isleway/plan/slowest_gpu.hpp"
#include "isleway/plan/train_search.hpp"
#include "plan/run_inputs.hpp"

namespace isleway::plan {
namespace {

/// Ranks beyond this are not told apart.
constexpr std::size_t kTop = 50;

bool same_division(const TrainLayout& a, const TrainLayout& b) {
  return a.tensor == b.tensor && a.context == b.context && a.pipeline == b.pipeline &&
         a.expert == b.expert;
}

/// Why the search prefers `best` to `own`: memory, or the part of the step that costs most more.
std::string why(const TrainEstimate& own, const TrainEstimate& best) {
  constexpr double kGib = 1073741824.0;
  if (!own.fits())
    return fmt::format("needs {:.0f} GiB of {:.0f}", own.needed / kGib, own.capacity / kGib);
  std::size_t most = 0;
  const auto more = [&](std::size_t i) { return own.parts[i].seconds() - best.parts[i].seconds(); };
  for (std::size_t i = 1; i < kParts; ++i)
    if (more(i) > more(most)) most = i;
  return fmt::format("{} {:+.1f}% of a step", name_of(static_cast<Part>(most)),
                     100 * more(most) / best.step.seconds());
}

LayoutRank rank_one(const RunSource& source, const TrainRun& run, RunInputs& inputs,
                    const ComputeCatalogue& compute) {
  LayoutRank rank;
  rank.source = &source;
  rank.run = &run;
  const auto give_up = [&](const Error& error) {
    rank.left_out = error.what;
    return rank;
  };
  const auto& transformer = inputs.transformer(source, run.model);
  if (!transformer) return give_up(transformer.error());
  const auto& interconnect = inputs.interconnect(run.platform);
  if (!interconnect) return give_up(interconnect.error());
  const Parts& parts = inputs.catalogue().parts();
  const auto gpu = slowest_gpu((*interconnect)->fabric(), compute, parts);
  if (!gpu) return give_up(gpu.error());
  const auto framework = parse_framework(run.framework);
  if (!framework) return give_up(framework.error());
  const auto layout = parse_layout(run.layout, run.platform.gpus);
  if (!layout) return give_up(layout.error());
  TrainJob job;
  job.model = *transformer;
  job.sequence = run.sequence;
  job.global_batch = run.batch;
  job.precision = run.precision;
  job.framework = *framework;
  const TrainModel model(std::move(job), **interconnect, gpu->compute, parts, gpu->memory);
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
  const TrainEstimate& best = found->best.front();
  rank.best = short_text(best.layout);
  rank.slower = own->step.seconds() / best.step.seconds();
  for (std::size_t i = 0; i < found->best.size() && rank.rank == 0; ++i)
    if (same_division(found->best[i].layout, *layout)) rank.rank = i + 1;
  if (rank.rank != 1) rank.why = why(*own, best);
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
  RunInputs inputs(catalogue, models);  // many runs share a machine
  for (const std::string& id : root.texts("runs")) {
    bool known = false;
    for (const RunSource& source : sources)
      for (const TrainRun& run : source.training) {
        if (run.id != id) continue;
        known = true;
        ranks.push_back(rank_one(source, run, inputs, compute));
      }
    if (!known) file->fail(root.node(), fmt::format("no run is called '{}'", id));
  }
  root.finish();
  if (!file->ok()) return tl::unexpected(*file->error());
  return ranks;
}

}  // namespace isleway::plan
