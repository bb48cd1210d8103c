# The target "tidy" runs clang-tidy over all headers, seen through the one that includes them all.
find_program(HEIST_CLANG_TIDY NAMES clang-tidy clang-tidy-14)
mark_as_advanced(HEIST_CLANG_TIDY)
if(NOT HEIST_CLANG_TIDY)
  return()
endif()
set(tidy_source "${PROJECT_BINARY_DIR}/tidy.cpp")
file(CONFIGURE OUTPUT "${tidy_source}" CONTENT "#include \"heist/configuration.hpp\"\n#include \"heist/heist.hpp\"\n#include \"heist/locality.hpp\"\n#include \"heist/measure.hpp\"\n#include \"heist/observe.hpp\"\n#include \"heist/simulate.hpp\"\n#include \"heist/run_loop.hpp\"\n#include \"heist/subgraph.hpp\"\n#include \"heist/sync.hpp\"\n#include \"heist/thread_limit.hpp\"\nint main() {}\n")
add_custom_target(
  tidy
  COMMAND
    "${HEIST_CLANG_TIDY}" --quiet --warnings-as-errors=* "--config-file=${PROJECT_SOURCE_DIR}/.clang-tidy"
    "${tidy_source}" -- -std=c++20 "-I$<JOIN:$<TARGET_PROPERTY:heist,INTERFACE_INCLUDE_DIRECTORIES>,;-I>"
  COMMAND_EXPAND_LISTS VERBATIM)
