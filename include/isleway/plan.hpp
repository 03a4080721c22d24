// The room "plan": layouts of a model on a machine, their time, memory and price.
#pragma once

#include "isleway/plan/compute.hpp"
#include "isleway/plan/gemm_fit.hpp"
