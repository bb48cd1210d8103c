# heist::compiled is heist with its bodies compiled once instead of in every file. Whoever links it compiles it, as their
# own files are compiled; nothing is built where nobody does. Used by our own build and, installed, by find_package(heist).
add_library(heist_compiled STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/compiled.cpp")
add_library(heist::compiled ALIAS heist_compiled)
target_link_libraries(heist_compiled PUBLIC heist::heist)
target_compile_definitions(heist_compiled PUBLIC HEIST_SEPARATE_COMPILATION)
