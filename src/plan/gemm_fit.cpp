#include "isleway/plan/gemm_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "plan/pattern_search.hpp"

namespace isleway::plan {
namespace {

using model::Precision;

/// The products of one GPU in one format.
struct Sample {
  std::string gpu;
  ComputeModel model;
  std::vector<const MeasuredGemm*> rows;
};
using Samples = std::vector<Sample>;
/// By generation and format, in the order in which gemm.yaml lists them.
using Families = std::map<std::string, std::map<Precision, Samples>>;

Result<Families> families_of(std::span<const GemmTable> tables, const ComputeCatalogue& catalogue,
                             const Parts& parts) {
  Families families;
  for (const GemmTable& table : tables) {
    auto model = catalogue.gpu(parts, table.gpu);
    if (!model) return tl::unexpected(model.error());
    for (const MeasuredGemm& row : table.rows) {
      Samples& samples = families[model->part().generation][row.precision];
      if (samples.empty() || samples.back().gpu != table.gpu)
        samples.push_back({table.gpu, *model, {}});
      samples.back().rows.push_back(&row);
    }
  }
  return families;
}

using GemmKnob = Knob<GemmConstants>;
/// Of every format; those of narrow formats only come last.
constexpr std::array kKnobs = {
    GemmKnob{&GemmConstants::peak, 0.05, 0.2, 1},
    GemmKnob{&GemmConstants::memory, 0.05, 0.2, 1},
    GemmKnob{&GemmConstants::prologue, 40, 0, 5000},
    GemmKnob{&GemmConstants::edge, 15, 0, 500},
    GemmKnob{&GemmConstants::launch, 1, 0, 50},
    GemmKnob{&GemmConstants::convert_traffic, 0.5, 0, 10},
};
constexpr std::size_t kOfNarrowOnly = 1;
constexpr int kRounds = 40;
constexpr double kMostLogError = 1;
/// Rows from which products are of training or prefill, which weigh double.
constexpr std::int64_t kManyRows = 512;

double loss(const Samples& samples, Precision precision, const GemmConstants& constants) {
  double sum = 0, weights = 0;
  for (const Sample& sample : samples) {
    const ComputeModel model = sample.model.with(precision, constants);
    for (const MeasuredGemm* row : sample.rows) {
      const double error =
          std::log(model.gemm(row->shape, precision).seconds() / row->time.seconds());
      const double weight = row->shape.m >= kManyRows ? 2 : 1;
      sum += weight * std::min(std::abs(error), kMostLogError);
      weights += weight;
    }
  }
  return weights > 0 ? sum / weights : 0;
}

GemmConstants search(const Samples& samples, Precision precision, const GemmConstants& start) {
  const bool narrow = model::math_bits(precision) < 16;
  const std::span knobs(kKnobs.data(), kKnobs.size() - (narrow ? 0 : kOfNarrowOnly));
  return pattern_search<GemmConstants>(knobs, start, kRounds, [&](const GemmConstants& tried) {
    return loss(samples, precision, tried);
  });
}

ErrorSummary errors_of(const Sample& sample, Precision precision, const GemmConstants& constants,
                       double least_flops) {
  const ComputeModel model = sample.model.with(precision, constants);
  std::vector<double> errors;
  for (const MeasuredGemm* row : sample.rows) {
    const Gemm& g = row->shape;
    if (2.0 * double(g.m) * double(g.n) * double(g.k) < least_flops) continue;
    errors.push_back(model.gemm(g, precision).seconds() / row->time.seconds() - 1);
  }
  return summarise(std::move(errors));
}

GemmFitError judge(const Sample& sample, Precision precision, const GemmConstants& constants) {
  return {sample.gpu,
          precision,
          errors_of(sample, precision, constants, 0),
          errors_of(sample, precision, constants, kLargeGemm),
          {}};
}

}  // namespace

Result<GemmFit> fit_gemm(std::span<const GemmTable> tables, const ComputeCatalogue& catalogue,
                         const Parts& parts) {
  const auto families = families_of(tables, catalogue, parts);
  if (!families) return tl::unexpected(families.error());
  GemmFit fit;
  for (const auto& [generation, formats] : *families)
    for (const auto& [precision, samples] : formats) {
      const GemmConstants start = samples.front().model.constants(precision);
      const GemmConstants constants = search(samples, precision, start);
      fit.constants[generation][precision] = constants;
      for (const Sample& sample : samples) {
        GemmFitError error = judge(sample, precision, constants);
        Samples others;
        for (const Sample& other : samples)
          if (other.gpu != sample.gpu) others.push_back(other);
        if (!others.empty())
          error.left_out = errors_of(sample, precision, search(others, precision, constants), 0);
        fit.errors.push_back(std::move(error));
      }
    }
  return fit;
}

Result<std::vector<GemmFitError>> gemm_errors(std::span<const GemmTable> tables,
                                              const ComputeCatalogue& catalogue,
                                              const Parts& parts) {
  const auto families = families_of(tables, catalogue, parts);
  if (!families) return tl::unexpected(families.error());
  std::vector<GemmFitError> errors;
  for (const auto& [generation, formats] : *families)
    for (const auto& [precision, samples] : formats)
      for (const Sample& sample : samples)
        errors.push_back(judge(sample, precision, sample.model.constants(precision)));
  return errors;
}

std::string gemm_yaml(const GemmFit& fit, std::span<const GemmTable> tables) {
  std::string text =
      "# Made by \"isleway accuracy-plan --fit-gemm\" from measurements/gemm: do not edit.\n"
      "# What the constants mean: docs/compute.md. Errors are those of the time of one product.\n";
  for (const GemmTable& table : tables)
    text += fmt::format("# {}: {} products, {}\n", table.gpu, table.rows.size(), table.source);
  text += "gemm:\n";
  for (const auto& [generation, formats] : fit.constants) {
    text += fmt::format("  {}:\n", generation);
    for (const auto& [precision, c] : formats) {
      text += fmt::format(
          "    {}: {{peak: {:.4f}, memory: {:.4f}, prologue: {:.1f}, edge: {:.2f}, "
          "launch_us: {:.3f}, convert_traffic: {:.3f}}}\n",
          model::name_of(precision), c.peak, c.memory, c.prologue, c.edge, c.launch,
          c.convert_traffic);
    }
  }
  text += "# error: median / 90th percentile; large products; with constants of other GPUs\n";
  for (const GemmFitError& e : fit.errors) {
    text += fmt::format("#   {} {}: {:.1f}% / {:.1f}%; {:.1f}% / {:.1f}%", e.gpu,
                        model::name_of(e.precision), 100 * e.all.median, 100 * e.all.p90,
                        100 * e.large.median, 100 * e.large.p90);
    if (e.left_out.count > 0)
      text += fmt::format("; {:.1f}% / {:.1f}%", 100 * e.left_out.median, 100 * e.left_out.p90);
    text += "\n";
  }
  return text;
}

}  // namespace isleway::plan
