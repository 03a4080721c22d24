# The libraries that programs on virtual GPUs load. The room `virtual` is one shared library,
# since all of them share one process's streams and memory; each ABI is a thin library of
# exports over it, src/virtual/<library>/exports/*.cpp, with a version script beside them.
set(ISLEWAY_VIRTUAL_FOLDER ${PROJECT_BINARY_DIR}/virtual)

# Shown to the exports, so compiled otherwise than the headers that other rooms share.
set_target_properties(isleway_virtual PROPERTIES CXX_VISIBILITY_PRESET default
  DISABLE_PRECOMPILE_HEADERS ON)
add_library(isleway_virtual_core SHARED $<TARGET_OBJECTS:isleway_virtual>)
target_link_libraries(isleway_virtual_core PRIVATE isleway_nccl isleway_formats yaml-cpp
  nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
set_target_properties(isleway_virtual_core PROPERTIES
  OUTPUT_NAME isleway-virtual LIBRARY_OUTPUT_DIRECTORY ${ISLEWAY_VIRTUAL_FOLDER})

# isleway_virtual_library(<folder> <file name> [DEFINES ...] [VERSIONS <script>] [ALONE])
# builds src/virtual/<folder>/exports/*.cpp. ALONE: without the room.
function(isleway_virtual_library folder file)
  cmake_parse_arguments(arg "ALONE" "VERSIONS" "DEFINES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/virtual/${folder}/exports/*.cpp)
  if(NOT sources)
    return()
  endif()
  string(MAKE_C_IDENTIFIER ${file} target)
  add_library(${target} SHARED ${sources})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE ${arg_DEFINES})
  # The file's name is its soname, as programs ask for it.
  set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${file}
    LIBRARY_OUTPUT_DIRECTORY ${ISLEWAY_VIRTUAL_FOLDER} BUILD_RPATH "$ORIGIN")
  if(arg_VERSIONS)
    set(script ${PROJECT_SOURCE_DIR}/src/virtual/${folder}/exports/${arg_VERSIONS})
    target_link_options(${target} PRIVATE -Wl,--version-script=${script})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
  endif()
  target_link_options(${target} PRIVATE -Wl,-z,defs)
  if(arg_ALONE)
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  else()
    # Of the other rooms, which the core does not show, each library has what it uses itself.
    target_link_libraries(${target} PRIVATE isleway_virtual_core isleway_nccl)
  endif()
endfunction()

isleway_virtual_library(cudart libcudart.so.12 DEFINES ISLEWAY_CUDART=12 VERSIONS cudart12.map)
isleway_virtual_library(cudart libcudart.so.13 DEFINES ISLEWAY_CUDART=13 VERSIONS cudart13.map)
isleway_virtual_library(nccl libnccl.so.2 VERSIONS nccl.map)
isleway_virtual_library(nvml libnvidia-ml.so.1 VERSIONS nvml.map)
isleway_virtual_library(cuda libcuda.so.1 VERSIONS cuda.map)
# The driver's interface over the runtime's.
target_link_libraries(libcuda_so_1 PRIVATE libcudart_so_13)
isleway_virtual_library(clock libisleway-clock.so VERSIONS clock.map ALONE)
