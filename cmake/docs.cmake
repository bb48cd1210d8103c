# The target "docs" makes the reference, a site that needs no network, from the comments (///) and the README files:
#   cmake --build build --target docs      docs/html/index.html in the build folder
find_program(HEIST_DOXYGEN NAMES doxygen)
mark_as_advanced(HEIST_DOXYGEN)
if(NOT HEIST_DOXYGEN)
  add_custom_target(docs COMMAND ${CMAKE_COMMAND} -E echo
                                 "skipped: the reference is made by doxygen, which is not installed; install it and configure again"
                         VERBATIM)
  return()
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/Doxyfile.in" "${PROJECT_BINARY_DIR}/docs/Doxyfile" @ONLY)
find_program(HEIST_PYTHON NAMES python3)
mark_as_advanced(HEIST_PYTHON)
set(links "")
if(HEIST_PYTHON)
  set(links COMMAND "${HEIST_PYTHON}" "${PROJECT_SOURCE_DIR}/cmake/docs_links.py" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/docs")
endif()
add_custom_target(docs COMMAND "${HEIST_DOXYGEN}" -q "${PROJECT_BINARY_DIR}/docs/Doxyfile" ${links}
                       WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" VERBATIM)
