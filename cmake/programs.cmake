# How each of our own programs (tests, examples, benchmarks) is compiled.
include("${CMAKE_CURRENT_LIST_DIR}/warnings.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/sanitizers.cmake")

function(heist_own_target target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(${target} PRIVATE heist::heist)
  heist_developer_warnings(${target})
  heist_sanitize(${target})
endfunction()

function(heist_program target)
  add_executable(${target} ${ARGN})
  heist_own_target(${target})
endfunction()
