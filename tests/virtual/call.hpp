// Calls exported functions by their names, as programs do that load a library themselves.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace isleway::testing {

/// Where functions are looked for: in what the program is linked to, unless a test says otherwise.
inline void*& library() {
  static void* handle = RTLD_DEFAULT;
  return handle;
}

/// Arguments are passed as they are: their types must be those of the function's parameters.
template <class Result = int, class... Arguments>
Result call(const char* name, Arguments... arguments) {
  auto* function = reinterpret_cast<Result (*)(Arguments...)>(::dlsym(library(), name));
  if (function == nullptr) {
    ADD_FAILURE() << "there is no " << name;
    return Result();
  }
  return function(arguments...);
}

}  // namespace isleway::testing
