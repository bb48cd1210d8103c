# Runs a command and checks its exit status together with its output, which ctest's own properties cannot.
#   cmake [-DFAILS=ON] [-DREGEX=words] [-DERRORS=count] [-DLINES=most] -P expect.cmake -- COMMAND ARGS...
# REGEX is a CMake regular expression that stdout or stderr must contain; FAILS asks for a non-zero exit status.
# ERRORS and LINES: of a compiler, how many times it must say "error:", and in how many lines at most.
set(command "")
set(reading FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(reading)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(reading TRUE)
  endif()
endforeach()

execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
if(FAILS AND NOT status MATCHES "^[1-9][0-9]*$")
  message(FATAL_ERROR "expected an orderly failure, got: ${status}")
elseif(NOT FAILS AND NOT status STREQUAL "0")
  message(FATAL_ERROR "expected success, got: ${status}")
endif()
if(NOT "${REGEX}" STREQUAL "" AND NOT output MATCHES "${REGEX}")
  message(FATAL_ERROR "the output does not contain: ${REGEX}")
endif()
include("${CMAKE_CURRENT_LIST_DIR}/limits.cmake")
heist_check_limits("${output}")
