# Included by tests/CMakeLists.txt behind the fault programs: each of them tells a file which sites it has refused, and a
# test behind them adds up. ctest -R faults_report runs all of them. Not under ThreadSanitizer, where some are not built.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_Interpreter_FOUND AND NOT HEIST_SANITIZE STREQUAL "thread")
  set(faults_report "${CMAKE_CURRENT_BINARY_DIR}/faults_report.txt")
  add_test(NAME faults_begin COMMAND ${CMAKE_COMMAND} -E rm -f "${faults_report}")
  set_tests_properties(faults_begin PROPERTIES FIXTURES_SETUP faults_begun LABELS faults)

  file(GLOB fault_programs CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*_test.cpp")
  foreach(source ${fault_programs})
    get_filename_component(name "${source}" NAME_WE)
    string(REGEX REPLACE "_test$" "" name "${name}")
    set_tests_properties(faults_${name} PROPERTIES
      FIXTURES_REQUIRED faults_begun FIXTURES_SETUP faults_ended ENVIRONMENT "HEIST_FAULTS_REPORT=${faults_report}")
  endforeach()

  add_test(NAME faults_report
           COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_LIST_DIR}/report.py" "${faults_report}")
  set_tests_properties(faults_report PROPERTIES FIXTURES_REQUIRED faults_ended LABELS faults)
  add_test(NAME faults_sites COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_LIST_DIR}/sites_check.py")
  set_tests_properties(faults_sites PROPERTIES LABELS faults)
endif()
