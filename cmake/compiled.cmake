# heist::compiled is heist with its bodies compiled once instead of in every file. Whoever links it compiles it, as their
# own files are compiled; nothing is built where nobody does. Used by our own build and, installed, by find_package(heist).
add_library(heist_compiled STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/compiled.cpp")
add_library(heist::compiled ALIAS heist_compiled)
target_link_libraries(heist_compiled PUBLIC heist::heist)
target_compile_definitions(heist_compiled PUBLIC HEIST_SEPARATE_COMPILATION)
# Builds for debuggers name the script by which gdb knows tasks: beside the sources, or installed beside share/cmake/.
foreach(heist_script "${CMAKE_CURRENT_LIST_DIR}/../share/heist/heist-gdb.py" "${CMAKE_CURRENT_LIST_DIR}/../../heist/heist-gdb.py")
  if(EXISTS "${heist_script}")
    get_filename_component(heist_gdb_script "${heist_script}" ABSOLUTE)
  endif()
endforeach()
if(heist_gdb_script)
  target_compile_definitions(heist_compiled
                             PRIVATE "$<$<CONFIG:Debug,RelWithDebInfo>:HEIST_GDB_SCRIPT=\"${heist_gdb_script}\">")
endif()
