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
find_program(HEIST_PYTHON NAMES python3)
mark_as_advanced(HEIST_PYTHON)

# A style for dark and light screens and for phones (Debian: doxygen-awesome-css).
set(HEIST_DOCS_STYLE "")
foreach(style doxygen-awesome.css doxygen-awesome-sidebar-only.css)
  find_file(HEIST_${style} NAMES ${style} PATHS /usr/share/doxygen-awesome-css /usr/local/share/doxygen-awesome-css)
  mark_as_advanced(HEIST_${style})
  if(HEIST_${style})
    string(APPEND HEIST_DOCS_STYLE " \"${HEIST_${style}}\"")
  endif()
endforeach()

set(links "")
if(HEIST_PYTHON)
  set(links COMMAND "${HEIST_PYTHON}" "${PROJECT_SOURCE_DIR}/cmake/docs_links.py" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/docs")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/Doxyfile.in" "${PROJECT_BINARY_DIR}/docs/Doxyfile" @ONLY)
add_custom_target(docs COMMAND "${HEIST_DOXYGEN}" -q "${PROJECT_BINARY_DIR}/docs/Doxyfile" ${links}
                       WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" VERBATIM)
