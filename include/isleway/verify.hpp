// Expectations held against what was measured.
#pragma once

#include "isleway/verify/accuracy.hpp"
#include "isleway/verify/calibration.hpp"
#include "isleway/verify/measurement.hpp"
