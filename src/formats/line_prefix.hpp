// What launchers and loggers put before each line of a program's output.
#pragma once

#include <string_view>

namespace isleway::formats {

/// The line without one prefix such as "[1,0]<stdout>:" (mpirun --tag-output), " 3: "
/// (srun -l), "node7: " (pdsh) or "2025-05-21T09:40:05.123Z " (kubectl logs). White space
/// after the prefix stays.
std::string_view without_line_prefix(std::string_view line);

}  // namespace isleway::formats
