// Other tools' files, in and out.
#pragma once

#include "isleway/formats/formats.hpp"
