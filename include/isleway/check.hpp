// What is wrong with a machine, by what its outputs state.
#pragma once

#include "isleway/check/check.hpp"
#include "isleway/check/finding.hpp"
#include "isleway/check/rules.hpp"
