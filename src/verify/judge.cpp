#include "verify/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isleway/core.hpp"

namespace isleway::verify {
namespace {

/// Points that the model is about equally good at. Most tables of healthy machines are within
/// `usual` (docs/accuracy.md, docs/p2p.md); a share of the expected speed below `warning` is
/// outside of what any but a few of them show. Peaks are known best.
struct Band {
  const char* name;
  Point::Kind kind;
  std::int64_t from, below;  ///< bytes
  double usual, warning, critical;
};

constexpr std::int64_t kMiddle = 64 << 10, kLarge = 16 << 20, kLargest = 512 << 20,
                       kNoEnd = std::int64_t{1} << 62;
constexpr Band kBands[] = {
    {"at small sizes", Point::Kind::row, 0, kMiddle, 0.35, 0.40, 0.0},
    {"at middle sizes", Point::Kind::row, kMiddle, kLarge, 0.30, 0.50, 0.0},
    {"at large sizes", Point::Kind::row, kLarge, kLargest, 0.15, 0.70, 0.50},
    {"at the largest sizes", Point::Kind::row, kLargest, kNoEnd, 0.07, 0.80, 0.50},
    {"over all copies", Point::Kind::copy, 0, kNoEnd, 0.10, 0.80, 0.50},
    {"over all latencies", Point::Kind::latency, 0, kNoEnd, 0.30, 0.40, 0.0},
};
/// A machine that is this much faster than expected is not the one that was described.
constexpr double kTooFast = 1.6;
/// A cause must take away this share of the misfit to be one.
constexpr double kExplains = 0.35;
/// And what is left must be near enough to call it an explanation (median error).
constexpr double kNearEnough = 0.30;
/// Fits this close to the best cannot be told from it.
constexpr double kAmbiguous = 1.3, kAmbiguousStep = 0.15;
constexpr std::size_t kMostCauses = 6;

bool is_in(const Band& band, const Point& point) {
  return point.kind == band.kind && point.bytes >= band.from && point.bytes < band.below;
}

const Band& band_of(const Point& point) {
  for (const Band& band : kBands)
    if (is_in(band, point)) return band;
  return kBands[0];
}

std::vector<double> shares_in(const Band& band, std::span<const Point> points) {
  std::vector<double> shares;
  for (const Point& point : points)
    if (is_in(band, point)) shares.push_back(point.share);
  return shares;
}

std::vector<double> expectations(std::span<const Point> points) {
  std::vector<double> expected;
  for (const Point& point : points) expected.push_back(point.expected);
  return expected;
}

std::string percent(double share) { return fmt::format("{:.0f}%", 100 * share); }

/// The longest run of points that are below their band's warning.
std::optional<Departure> find_departure(std::span<const Point> points) {
  std::optional<Departure> longest;
  for (std::size_t i = 0; i < points.size();) {
    std::size_t end = i;
    Departure run{i, i, points[i].share, points[i].share};
    while (end < points.size() && points[end].share < band_of(points[end]).warning) {
      run.last = end;
      run.least = std::min(run.least, points[end].share);
      run.most = std::max(run.most, points[end].share);
      ++end;
    }
    if (end > i && (!longest || end - i > longest->last - longest->first + 1)) longest = run;
    i = std::max(end, i + 1);
  }
  return longest;
}

/// Cells of a matrix have no order: how many are slow, and how slow.
std::string slow_cells_text(std::span<const Point> points) {
  std::size_t slow = 0;
  double least = HUGE_VAL, most = 0;
  for (const Point& point : points) {
    if (point.share >= band_of(point).warning) continue;
    ++slow;
    least = std::min(least, point.share);
    most = std::max(most, point.share);
  }
  return fmt::format("{} of {} copies are at {} to {} of the expected speed", slow, points.size(),
                     percent(least), percent(most));
}

std::string departure_text(const Departure& departure, std::span<const Point> points) {
  const std::string where =
      departure.first == departure.last
          ? points[departure.first].label
          : fmt::format("{} to {}", points[departure.first].label, points[departure.last].label);
  const std::string least = percent(departure.least), most = percent(departure.most);
  return fmt::format("{} of the expected speed at {}",
                     least == most ? least : least + " to " + most, where);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double median_error(std::span<const Point> points, std::span<const double> simulated) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (simulated[i] > 0) errors.push_back(std::abs(simulated[i] / points[i].measured - 1));
  return median(std::move(errors));
}

double misfit(std::span<const Point> points, std::span<const double> simulated) {
  // Rows of a band err together, so each band counts once, however many rows it has.
  double sum = 0;
  int bands = 0;
  for (const Band& band : kBands) {
    double distance = 0;
    int count = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!is_in(band, points[i]) || simulated[i] <= 0) continue;
      distance += std::abs(std::log(simulated[i] / points[i].measured));
      ++count;
    }
    if (count == 0) continue;
    sum += distance / count / band.usual;
    ++bands;
  }
  return bands == 0 ? HUGE_VAL : sum / bands;
}

void judge(Comparison& comparison) {
  const std::span<const Point> points = comparison.points;
  comparison.error = median_error(points, expectations(points));
  if (points.empty()) {
    comparison.why = "there is no row to judge";
    return;
  }
  comparison.verdict = Verdict::good;
  for (const Band& band : kBands) {
    const std::vector<double> shares = shares_in(band, points);
    if (shares.empty()) continue;
    const double share = median(shares);
    if (comparison.verdict == Verdict::good)
      comparison.why = fmt::format("as expected: {} of the expected speed {} (median)",
                                   percent(share), band.name);
    // Small sizes that are faster harm nobody, and the model knows them least.
    if (share > kTooFast && band.usual < 0.3 && comparison.verdict == Verdict::good) {
      comparison.verdict = Verdict::unknown;
      comparison.why = fmt::format(
          "{} of the expected speed {}: the machine is not as described, or the model is wrong "
          "here",
          percent(share), band.name);
    }
    // One cell of a matrix that is far too slow is a fault, however many others are well.
    const double worst =
        band.kind == Point::Kind::row ? share : *std::min_element(shares.begin(), shares.end());
    if (worst < band.warning)
      comparison.verdict = std::max(comparison.verdict,
                                    worst < band.critical ? Verdict::critical : Verdict::warning);
  }
  if (comparison.verdict < Verdict::warning) return;
  if (points[0].kind != Point::Kind::row) {
    comparison.why = slow_cells_text(points);
  } else {
    comparison.departure = find_departure(points);
    if (comparison.departure) comparison.why = departure_text(*comparison.departure, points);
  }
}

void keep_best(std::span<const Point> points, std::vector<Cause>& causes) {
  std::vector<std::pair<double, Cause>> fits;
  for (Cause& cause : causes) {
    // On the same points, since a cause is not simulated at all of them.
    std::vector<double> expected = expectations(points);
    for (std::size_t i = 0; i < points.size(); ++i)
      if (cause.simulated[i] <= 0) expected[i] = 0;
    const double with = misfit(points, cause.simulated);
    cause.error = median_error(points, cause.simulated);
    // Where NCCL refuses every call, nothing was simulated.
    if (!std::isfinite(with)) continue;
    if (with <= (1 - kExplains) * misfit(points, expected) && cause.error <= kNearEnough)
      fits.emplace_back(with, std::move(cause));
  }
  std::stable_sort(fits.begin(), fits.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  causes.clear();
  for (auto& [fit, cause] : fits) {
    const bool close = fit <= kAmbiguous * fits.front().first + kAmbiguousStep;
    // What the log confirms is told, if it explains at all.
    if ((close && causes.size() < kMostCauses) || !cause.evidence.empty())
      causes.push_back(std::move(cause));
  }
  std::stable_partition(causes.begin(), causes.end(),
                        [](const Cause& cause) { return !cause.evidence.empty(); });
}

}  // namespace isleway::verify
