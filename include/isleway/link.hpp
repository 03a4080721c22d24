// What happens on a wire: packets, checksums, replay, credits, training, congestion, counters.
#pragma once

#include "isleway/link/bit_errors.hpp"
#include "isleway/link/congestion.hpp"
#include "isleway/link/counters.hpp"
#include "isleway/link/crc.hpp"
#include "isleway/link/framing.hpp"
#include "isleway/link/gate.hpp"
#include "isleway/link/packet.hpp"
#include "isleway/link/reliable.hpp"
#include "isleway/link/rules.hpp"
#include "isleway/link/training.hpp"
