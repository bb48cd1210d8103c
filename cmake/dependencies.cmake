# What heist links with. Used by our own build and, installed, by find_package(heist); the targets are global, so that
# a project which adds heist as a subdirectory can link it from anywhere.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 NEW)  # Boost by its own package file
endif()

if(HEIST_DEPENDENCIES_REQUIRED)
  set(_heist_required REQUIRED)
else()
  set(_heist_required QUIET)
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads ${_heist_required})
find_package(PkgConfig ${_heist_required})
if(PkgConfig_FOUND AND NOT TARGET PkgConfig::hwloc)
  pkg_check_modules(hwloc ${_heist_required} IMPORTED_TARGET GLOBAL "hwloc>=2.0")
endif()
find_package(Boost 1.70 ${_heist_required} COMPONENTS context)
find_package(fmt 8 ${_heist_required})

set(_heist_missing "")
foreach(_heist_target Threads::Threads PkgConfig::hwloc Boost::context fmt::fmt)
  if(NOT TARGET ${_heist_target})
    list(APPEND _heist_missing ${_heist_target})
  endif()
endforeach()
unset(_heist_required)
unset(_heist_target)
unset(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
