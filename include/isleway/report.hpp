// What people read: tables, JSON, pictures.
#pragma once

#include "isleway/report/accuracy.hpp"
#include "isleway/report/bench.hpp"
#include "isleway/report/catalogue.hpp"
#include "isleway/report/check.hpp"
#include "isleway/report/compare.hpp"
#include "isleway/report/copies.hpp"
#include "isleway/report/explain.hpp"
#include "isleway/report/machine.hpp"
#include "isleway/report/serve.hpp"
#include "isleway/report/trace.hpp"
