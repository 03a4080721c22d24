// Expectations held against what was measured.
#pragma once

#include "isleway/verify/accuracy.hpp"
#include "isleway/verify/calibration.hpp"
#include "isleway/verify/compare.hpp"
#include "isleway/verify/cross_validation.hpp"
#include "isleway/verify/machine_guess.hpp"
#include "isleway/verify/measurement.hpp"
#include "isleway/verify/statistics.hpp"
