// The machine: devices, links, islands, paths, and the catalogue that describes them.
#pragma once

#include "isleway/fabric/catalogue.hpp"
#include "isleway/fabric/change.hpp"
#include "isleway/fabric/device.hpp"
#include "isleway/fabric/fabric.hpp"
#include "isleway/fabric/network.hpp"
#include "isleway/fabric/parts.hpp"
#include "isleway/fabric/path.hpp"
#include "isleway/fabric/unit.hpp"
