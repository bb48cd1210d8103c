# The target lace::lace: Lace is one file in C, which is compiled here. Its task queues are mapped, not allocated, so that
# memory counts only as far as it is used.
heist_peer_folder(HEIST_LACE_DIR lace.c)
if(HEIST_LACE_DIR)
  enable_language(C)
  foreach(option LACE_PIE_TIMES LACE_COUNT_TASKS LACE_COUNT_STEALS LACE_COUNT_SPLITS)
    set(${option} OFF)
  endforeach()
  configure_file("${HEIST_LACE_DIR}/lace_config.h.in" "${CMAKE_CURRENT_BINARY_DIR}/lace/lace_config.h")
  add_library(heist_lace STATIC EXCLUDE_FROM_ALL "${HEIST_LACE_DIR}/lace.c")
  add_library(lace::lace ALIAS heist_lace)
  target_compile_features(heist_lace PRIVATE c_std_11)
  target_compile_definitions(heist_lace PRIVATE LACE_USE_MMAP=1)
  target_include_directories(heist_lace SYSTEM PUBLIC "${HEIST_LACE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}/lace")
  target_link_libraries(heist_lace PUBLIC Threads::Threads)
  target_compile_options(heist_lace PUBLIC $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-c99-extensions>)  # its macros
endif()
