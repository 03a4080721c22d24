// The room "plan": layouts of a model on a machine, their time, memory and price.
#pragma once

#include "isleway/plan/compute.hpp"
#include "isleway/plan/gemm_fit.hpp"
#include "isleway/plan/interconnect.hpp"
#include "isleway/plan/measured_run.hpp"
#include "isleway/plan/order_score.hpp"
#include "isleway/plan/serve.hpp"
#include "isleway/plan/serve_layout.hpp"
#include "isleway/plan/serve_score.hpp"
#include "isleway/plan/serve_search.hpp"
#include "isleway/plan/train.hpp"
#include "isleway/plan/train_fit.hpp"
#include "isleway/plan/train_layout.hpp"
#include "isleway/plan/train_score.hpp"
#include "isleway/plan/train_search.hpp"
