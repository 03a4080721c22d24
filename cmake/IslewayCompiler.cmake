# Language level, warnings, sanitizers and the compiler cache, for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The rooms are also linked into the libraries that virtual GPUs' programs load, which show
# their own ABI and nothing else.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
# -O3 costs a quarter more of a cold build and gains nothing that bench/ can see.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "" FORCE)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(ISLEWAY_CCACHE ccache)
if(ISLEWAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ISLEWAY_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms of GCC 12 in its own headers once -O2 inlines them.
  add_compile_options(-Wno-restrict -Wno-maybe-uninitialized)
endif()
if(ISLEWAY_SANITIZE)
  add_compile_options(-fsanitize=${ISLEWAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ISLEWAY_SANITIZE})
  # Also where memory is not touched wrongly, as in text[0] of an empty text.
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()

# Without a compiler cache, parsing the standard library and fmt again and again is a third of
# a cold build: the cache would not survive precompiled headers, so it is one or the other.
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(ISLEWAY_PCH_DEFAULT OFF)
else()
  set(ISLEWAY_PCH_DEFAULT ON)
endif()
option(ISLEWAY_PCH "Precompile the big headers" ${ISLEWAY_PCH_DEFAULT})

# Precompiles common headers for a target, and the further ones that are given. Targets that give
# the same reuse what the first of them made.
function(isleway_precompile target)
  if(NOT ISLEWAY_PCH)
    return()
  endif()
  string(MAKE_C_IDENTIFIER "isleway_precompiled_${ARGN}" key)
  get_property(owner GLOBAL PROPERTY ${key})
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  else()
    set_property(GLOBAL PROPERTY ${key} ${target})
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <functional> <map>
      <memory> <numeric> <optional> <set> <span> <string> <unordered_map> <variant> <vector>
      <fmt/format.h> <tl/expected.hpp> ${ARGN})
  endif()
endfunction()
