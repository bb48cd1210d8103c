# heist::compiled is heist with its bodies compiled once instead of in every file. Whoever links it compiles it, as their
# own files are compiled; nothing is built where nobody does. Used by our own build and, installed, by find_package(heist).
add_library(heist_compiled STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/compiled.cpp")
add_library(heist::compiled ALIAS heist_compiled)
target_link_libraries(heist_compiled PUBLIC heist::heist)
target_compile_definitions(heist_compiled PUBLIC HEIST_SEPARATE_COMPILATION)
# Debug builds name the script by which gdb knows tasks: beside the sources, or installed. HEIST_GDB_SCRIPT, if it is set,
# is another one; empty: none.
if(NOT DEFINED HEIST_GDB_SCRIPT)
  foreach(heist_script ../share/heist/heist-gdb.py ../../heist/heist-gdb.py)
    if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/${heist_script}")
      get_filename_component(HEIST_GDB_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/${heist_script}" ABSOLUTE)
    endif()
  endforeach()
endif()
if(HEIST_GDB_SCRIPT)
  target_compile_definitions(heist_compiled
                             PRIVATE "$<$<CONFIG:Debug,RelWithDebInfo>:HEIST_GDB_SCRIPT=\"${HEIST_GDB_SCRIPT}\">")
endif()
