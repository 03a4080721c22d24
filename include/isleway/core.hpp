// The ground that every room stands on: units, errors, text and files.
#pragma once

#include "isleway/core/error.hpp"
#include "isleway/core/file.hpp"
#include "isleway/core/small_vector.hpp"
#include "isleway/core/text.hpp"
#include "isleway/core/units.hpp"
