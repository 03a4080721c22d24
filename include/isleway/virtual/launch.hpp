// Starts programs on virtual GPUs.
#pragma once

#include <string>
#include <vector>

#include "isleway/virtual/world.hpp"

namespace isleway::vgpu {

/// What the program of a run came to.
struct RunEnd {
  int status = 0;                    ///< its exit status; 128 plus the signal that ended it
  std::vector<std::string> remarks;  ///< that the user should not overlook
};

/// Runs `command` (a program and its arguments) in the world, and waits for it. Error: there is no
/// such program, one that brings its own CUDA runtime along, or no virtual libraries.
Result<RunEnd> run_program(World& world, const std::vector<std::string>& command);

/// Whether the file is a program with GPU code that has the CUDA runtime inside, where no library
/// can take its place.
bool has_static_cudart(const std::string& file);
/// What to say of such a program, and how it is built otherwise.
Error static_cudart_error(const std::string& program);

}  // namespace isleway::vgpu
