#include "isleway/verify/calibration.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "isleway/core.hpp"
#include "isleway/core/parallel.hpp"

namespace isleway::verify {
namespace {

/// For slopes: large enough to be above the picosecond, small enough to be local.
constexpr double kProbe = 0.05;
/// No constant moves further at once; the model is only piecewise linear.
constexpr double kLongestStep = 0.35;
/// What leaving a value by a factor e costs, in rows that are wrong by a factor e.
constexpr double kStiffness = 0.5;
/// Below this error a row counts as right: measurements repeat to a few percent.
constexpr double kNoise = 0.03;
constexpr int kReweightings = 25;

}  // namespace

Parts with_factors(const Parts& parts, const Factors& factors) {
  Parts changed = parts;
  for (const auto& [name, factor] : factors)
    if (const Constant* constant = parts.constant(name)) {
      Constant scaled = *constant;
      scaled.value *= factor;
      changed.set_constant(name, scaled);
    }
  return changed;
}

Calibration::Calibration(std::span<const MeasuredTable> tables, const Catalogue& catalogue,
                         const Engine& engine, std::span<const std::string> held)
    : catalogue_(catalogue), engine_(engine) {
  std::vector<std::optional<TableModel>> made(tables.size());
  parallel_for(tables.size(), [&](std::size_t i) {
    if (!tables[i].left_out.empty()) return;
    if (auto model = TableModel::create(tables[i], catalogue)) made[i] = std::move(*model);
  });
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (!made[i]) continue;
    tables_.push_back(&tables[i]);
    models_.push_back(std::move(*made[i]));
  }
  latest_.resize(models_.size());
  for (const auto& [name, constant] : catalogue.parts().constants()) {
    const bool stays = std::any_of(held.begin(), held.end(), [&name = name](const std::string& h) {
      return name.find(h) != name.npos;
    });
    if (name.starts_with("nccl.") && constant.value > 0 && !stays) constants_.push_back(name);
  }
}

std::vector<ComparedTable> Calibration::compare(
    const Factors& factors, const std::function<bool(const MeasuredTable&)>& wanted) {
  const Parts parts = with_factors(catalogue_.parts(), factors);
  std::vector<ComparedTable> compared(models_.size());
  parallel_for(models_.size(), [&](std::size_t i) {
    compared[i].table = tables_[i];
    if (!wanted(*tables_[i])) return;
    const auto changed = models_[i].retime(parts);
    if (changed && !*changed && !latest_[i].empty()) {
      compared[i].rows = latest_[i];
    } else if (auto rows = models_[i].compare(engine_)) {
      compared[i].rows = latest_[i] = std::move(*rows);
    } else {
      compared[i].left_out = rows.error().what;
    }
  });
  return compared;
}

Result<void> Calibration::linearise(const Factors& factors) {
  lines_.assign(models_.size(), {});
  const auto base = compare(factors);
  for (std::size_t t = 0; t < base.size(); ++t) {
    if (!base[t].left_out.empty())
      return fail(tables_[t]->id + " cannot be compared: " + base[t].left_out);
    for (const ComparedRow& row : base[t].rows)
      lines_[t].push_back({std::log(row.predicted.seconds() / row.measured.seconds()), {}});
  }
  for (std::size_t c = 0; c < constants_.size(); ++c) {
    Factors probed = factors;
    probed.try_emplace(constants_[c], 1).first->second *= std::exp(kProbe);
    const auto there = compare(probed);
    for (std::size_t t = 0; t < there.size(); ++t)
      for (std::size_t r = 0; r < lines_[t].size(); ++r) {
        const double change =
            std::log(there[t].rows[r].predicted.seconds() / base[t].rows[r].predicted.seconds());
        if (change != 0) lines_[t][r].slopes.push_back({c, change / kProbe});
      }
  }
  return {};
}

double Calibration::loss(std::span<const ComparedTable> tables) {
  double sum = 0, weights = 0;
  for (const ComparedTable& table : tables) {
    if (table.rows.empty()) continue;
    const double weight = 1 / std::sqrt(static_cast<double>(table.rows.size()));
    for (const ComparedRow& row : table.rows)
      sum += weight * std::abs(std::log(row.predicted.seconds() / row.measured.seconds()));
    weights += weight * static_cast<double>(table.rows.size());
  }
  return weights > 0 ? sum / weights : 0;
}

Result<Factors> Calibration::fit(int rounds) {
  Factors best;
  double best_loss = loss(compare(best));
  for (int round = 0; round < rounds; ++round) {
    if (auto ready = linearise(best); !ready) return tl::unexpected(ready.error());
    const Factors next = improve(best, calibrates);
    // The linear model may overshoot: go as far as it helps.
    bool better = false;
    for (double share = 1; share > 0.1 && !better; share /= 2) {
      Factors part;
      for (const auto& [name, factor] : next) {
        const auto before = best.find(name);
        const double from = before == best.end() ? 1 : before->second;
        part[name] = from * std::pow(factor / from, share);
      }
      const double there = loss(compare(part));
      better = there < best_loss - 1e-4;
      if (better) {
        best = std::move(part);
        best_loss = there;
      }
    }
    if (!better) break;
  }
  return best;
}

Factors Calibration::improve(const Factors& factors,
                             const std::function<bool(const MeasuredTable&)>& takes_part) const {
  const auto count = static_cast<Eigen::Index>(constants_.size());
  Eigen::VectorXd old = Eigen::VectorXd::Zero(count);
  for (Eigen::Index c = 0; c < count; ++c)
    if (const auto found = factors.find(constants_[static_cast<std::size_t>(c)]);
        found != factors.end())
      old[c] = std::log(found->second);
  Eigen::VectorXd move = Eigen::VectorXd::Zero(count);
  for (int round = 0; round < kReweightings; ++round) {
    Eigen::MatrixXd normal = Eigen::MatrixXd::Identity(count, count) * kStiffness;
    Eigen::VectorXd right = -kStiffness * old;
    for (std::size_t t = 0; t < lines_.size(); ++t) {
      if (lines_[t].empty() || !takes_part(*tables_[t])) continue;
      const double table = 1 / std::sqrt(static_cast<double>(lines_[t].size()));
      for (const Row& row : lines_[t]) {
        double error = row.log_error;
        for (const Slope& slope : row.slopes)
          error += slope.value * move[static_cast<Eigen::Index>(slope.constant)];
        const double weight = table / std::max(kNoise, std::abs(error));
        for (const Slope& a : row.slopes) {
          const auto i = static_cast<Eigen::Index>(a.constant);
          right[i] -= weight * a.value * row.log_error;
          for (const Slope& b : row.slopes)
            normal(i, static_cast<Eigen::Index>(b.constant)) += weight * a.value * b.value;
        }
      }
    }
    move = normal.ldlt().solve(right).cwiseMax(-kLongestStep).cwiseMin(kLongestStep);
  }
  Factors improved = factors;
  for (Eigen::Index c = 0; c < count; ++c)
    improved[constants_[static_cast<std::size_t>(c)]] = std::exp(old[c] + move[c]);
  return improved;
}

}  // namespace isleway::verify
