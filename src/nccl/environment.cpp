#include "isleway/nccl/environment.hpp"

#include <unistd.h>

#include <string_view>

namespace isleway::nccl {

std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> found;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (text.starts_with("NCCL_") && equals != text.npos)
      found.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

}  // namespace isleway::nccl
