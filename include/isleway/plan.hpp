// The room "plan": layouts of a model on a machine, their time, memory and price.
#pragma once

#include "isleway/plan/compute.hpp"
#include "isleway/plan/gemm_fit.hpp"
#include "isleway/plan/interconnect.hpp"
#include "isleway/plan/train.hpp"
#include "isleway/plan/train_layout.hpp"
#include "isleway/plan/train_search.hpp"
