// Collectives as schedules, and the proof that they do what they claim.
#pragma once

#include "isleway/collective/checker.hpp"
#include "isleway/collective/collective.hpp"
#include "isleway/collective/copy_matrix.hpp"
#include "isleway/collective/executor.hpp"
