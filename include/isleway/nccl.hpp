// NCCL's mind: what it chooses, and what that choice puts on the wire.
#pragma once

#include "isleway/nccl/bench.hpp"
#include "isleway/nccl/communicator.hpp"
#include "isleway/nccl/environment.hpp"
#include "isleway/nccl/explain.hpp"
