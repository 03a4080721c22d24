# A room is a static library made of src/<room>/**.cpp; adding a file needs no other change.
# PRECOMPILES are big headers that most of its files include.
function(isleway_room name)
  cmake_parse_arguments(arg "" "" "USES;LIBRARIES;PRECOMPILES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  # Programs have their main, libraries that programs load what they export.
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$|/exports/")
  add_library(isleway_${name} STATIC ${sources})
  target_include_directories(isleway_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM arg_USES PREPEND isleway_)
  target_link_libraries(isleway_${name} PUBLIC ${arg_USES} ${arg_LIBRARIES})
  isleway_precompile(isleway_${name} ${arg_PRECOMPILES})
endfunction()

# Collects what the files of src/<room>/<folder> define, one `const <Type> <stem>_<suffix>`
# each, into a function <folder>() (or of another name, given last) that returns them sorted by
# file name. So a new reader, writer or command is one new file. A table made by the build, unlike static
# initialisers, is not dropped from static libraries and has no order to get wrong.
function(isleway_registry room folder type suffix header namespace)
  set(function ${folder})
  if(ARGC GREATER 6)
    set(function ${ARGV6})
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/${folder}/*.cpp)
  list(SORT files)
  set(declarations "")
  set(pointers "")
  foreach(file IN LISTS files)
    get_filename_component(stem ${file} NAME_WE)
    string(APPEND declarations "extern const ${type} ${stem}_${suffix};\n")
    string(APPEND pointers "      &${stem}_${suffix},\n")
  endforeach()
  list(LENGTH files count)
  set(content "// Made by the build from the files of src/${room}/${folder}.
#include <array>
#include \"${header}\"

namespace ${namespace} {

${declarations}
std::span<const ${type}* const> ${function}() {
  static constexpr std::array<const ${type}*, ${count}> all = {
${pointers}  };
  return all;
}

}  // namespace ${namespace}
")
  set(output ${PROJECT_BINARY_DIR}/generated/${room}_${folder}.cpp)
  file(CONFIGURE OUTPUT ${output} CONTENT "${content}" @ONLY)
  target_sources(isleway_${room} PRIVATE ${output})
endfunction()
