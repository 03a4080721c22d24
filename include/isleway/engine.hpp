// Simulated time: schedules, how they are wired to a fabric, and the engines.
#pragma once

#include "isleway/engine/engine.hpp"
#include "isleway/engine/max_min.hpp"
#include "isleway/engine/scenario.hpp"
#include "isleway/engine/schedule.hpp"
#include "isleway/engine/wiring.hpp"
