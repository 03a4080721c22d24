// How far a measurement may be from the expectation, and how well a simulation fits it.
#pragma once

#include <span>

#include "isleway/verify/compare.hpp"

namespace isleway::verify {

/// Sets error, verdict, why and departure from the points.
void judge(Comparison& comparison);

/// Distance of simulated values from the measured ones, in units of the model's usual error:
/// 1 is as far as a right simulation usually is. `simulated` is by point; 0 is left out.
double misfit(std::span<const Point> points, std::span<const double> simulated);
/// The median of |simulated - measured| / measured.
double median_error(std::span<const Point> points, std::span<const double> simulated);

/// Keeps the causes that explain the points clearly better than the expectation does, and of
/// those the ones that fit about as well as the best; by fit.
void keep_best(std::span<const Point> points, std::vector<Cause>& causes);

double median(std::vector<double> values);  ///< of none: 0

}  // namespace isleway::verify
