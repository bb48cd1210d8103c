# Warnings for our own programs, never for the user's: nothing here reaches the target heist::heist.
function(heist_developer_warnings target)
  if(NOT HEIST_DEVELOPER_WARNINGS)
    return()
  endif()
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Werror)
  if(HEIST_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC's flow analysis sees the sanitizers' own branches and warns of values that are always set; -Wtsan warns of
    # every fence, which heist does not rely on under TSan.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized $<$<STREQUAL:${HEIST_SANITIZE},thread>:-Wno-tsan>)
  endif()
endfunction()
