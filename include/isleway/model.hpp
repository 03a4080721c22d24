// The room "model": language models, their weights, arithmetic, memory and traffic.
#pragma once

#include "isleway/model/config.hpp"
#include "isleway/model/flops.hpp"
#include "isleway/model/memory.hpp"
#include "isleway/model/operations.hpp"
#include "isleway/model/parameters.hpp"
#include "isleway/model/precision.hpp"
#include "isleway/model/traffic.hpp"
#include "isleway/model/transformer.hpp"
