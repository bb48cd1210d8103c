# Headers, and the files by which find_package(heist) finds them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(heist_package_dir "${CMAKE_INSTALL_DATADIR}/cmake/heist")
target_include_directories(heist INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/heist" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.ipp" PATTERN "*.h")
foreach(library taskflow tbb)
  target_include_directories(heist_${library}_compat INTERFACE
                             "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/heist/compat/${library}>")
endforeach()
install(TARGETS heist heist_taskflow_compat heist_tbb_compat EXPORT heist-targets)
install(EXPORT heist-targets NAMESPACE heist:: DESTINATION "${heist_package_dir}")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/heist-config.cmake.in" "${PROJECT_BINARY_DIR}/heist-config.cmake"
  INSTALL_DESTINATION "${heist_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/heist-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/heist-config.cmake" "${PROJECT_BINARY_DIR}/heist-config-version.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/dependencies.cmake" "${PROJECT_SOURCE_DIR}/cmake/compiled.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/compiled.cpp" "${PROJECT_SOURCE_DIR}/cmake/heist.cppm"
              "${PROJECT_SOURCE_DIR}/cmake/distributed.cmake"
        DESTINATION "${heist_package_dir}")

# For those who do not use CMake: pkg-config --cflags --libs heist. Below share/, as there is nothing of a machine in it.
set(heist_switch_flag "")
if(NOT HEIST_SWITCH STREQUAL "auto")
  set(heist_switch_flag " -DHEIST_SWITCH_${heist_switch}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/heist.pc.in" "${PROJECT_BINARY_DIR}/heist.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/heist.pc" DESTINATION "share/pkgconfig")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/share/heist/heist-gdb.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/heist")
