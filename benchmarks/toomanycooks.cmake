# How TooManyCooks wants to be built: with hwloc, one priority, and an allocator that is faster than the system's, since
# it takes every coroutine from the heap (Debian: apt install libmimalloc-dev).
if(NOT TARGET TooManyCooks::TooManyCooks)
  return()
endif()
find_library(HEIST_TOOMANYCOOKS_MALLOC NAMES mimalloc tcmalloc_minimal tcmalloc jemalloc
             DOC "Allocator for the benchmarks of TooManyCooks")
mark_as_advanced(HEIST_TOOMANYCOOKS_MALLOC)
message(STATUS "heist: TooManyCooks is measured with the allocator ${HEIST_TOOMANYCOOKS_MALLOC}")
add_library(heist_toomanycooks INTERFACE)
target_link_libraries(heist_toomanycooks INTERFACE TooManyCooks::TooManyCooks PkgConfig::hwloc Threads::Threads)
target_compile_definitions(heist_toomanycooks INTERFACE TMC_USE_HWLOC TMC_PRIORITY_COUNT=1 TMC_TRIVIAL_TASK)
if(HEIST_TOOMANYCOOKS_MALLOC)
  target_link_options(heist_toomanycooks INTERFACE "LINKER:--no-as-needed")
  target_link_libraries(heist_toomanycooks INTERFACE "${HEIST_TOOMANYCOOKS_MALLOC}")
endif()
