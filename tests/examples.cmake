# Runs every example: `--help`, and either as examples/<name>/tests.cmake says or once without arguments. That file may
# also declare test programs for the example's own code (heist_test_program).
#
#   heist_example_test(timing --multiplier 8)                        exits with 0
#   heist_example_test(timing FAILS EXPECT "no such" no-file.v)      exits with an error that says so (CMake regex)

function(heist_example_test example)
  cmake_parse_arguments(PARSE_ARGV 1 arg "FAILS" "EXPECT" "")
  list(JOIN arg_UNPARSED_ARGUMENTS "_" slug)
  string(REGEX REPLACE "[^A-Za-z0-9.]+" "_" slug "run_${slug}")
  string(REGEX REPLACE "_$" "" slug "${slug}")
  set(test example_${example}_${slug})
  add_test(NAME ${test}
           COMMAND ${CMAKE_COMMAND} "-DFAILS=${arg_FAILS}" "-DREGEX=${arg_EXPECT}"
                   -P "${PROJECT_SOURCE_DIR}/cmake/expect.cmake" -- $<TARGET_FILE:example_${example}>
                   ${arg_UNPARSED_ARGUMENTS})
  set(labels examples ${heist_example_label})
  heist_test_properties(${test} "${labels}")
  set_property(GLOBAL APPEND PROPERTY heist_tested_examples ${example})
endfunction()

file(GLOB example_runs CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/examples/*/tests.cmake")
foreach(file ${example_runs})
  include("${file}")
endforeach()

if(TARGET example_timing)
  add_test(NAME example_timing_report COMMAND example_timing --multiplier 4)
  heist_test_properties(example_timing_report examples)
  set_tests_properties(example_timing_report PROPERTIES ENVIRONMENT "HEIST_REPORT=-"
                                                        PASS_REGULAR_EXPRESSION "example_timing, executor 1, .* workers?: [0-9]+ tasks")
endif()

get_property(examples GLOBAL PROPERTY heist_examples)
get_property(tested GLOBAL PROPERTY heist_tested_examples)
foreach(example ${examples})
  add_test(NAME example_${example}_help COMMAND example_${example} --help)
  heist_test_properties(example_${example}_help examples)
  if(NOT example IN_LIST tested)
    heist_example_test(${example})
  endif()
endforeach()
