# heist::distributed, where MPI and Boost.Serialization are found: one graph over many processes (heist/distributed.hpp).
# heist::distributed_starpu, where StarPU-MPI is found, too. Used by our own build and by find_package(heist).
set(heist_distributed_missing "")
set(MPI_CXX_SKIP_MPICXX TRUE)  # MPI's own C++ classes
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 NEW)  # Boost by its own package file
endif()
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)  # the target alone says nothing: CMake makes it while it looks
  list(APPEND heist_distributed_missing "MPI (Debian: libopenmpi-dev openmpi-bin)")
endif()
find_package(Boost 1.70 QUIET COMPONENTS serialization)
if(NOT TARGET Boost::serialization)
  list(APPEND heist_distributed_missing "Boost.Serialization (Debian: libboost-serialization-dev)")
endif()
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND AND NOT TARGET PkgConfig::starpumpi)
  pkg_check_modules(starpumpi QUIET IMPORTED_TARGET GLOBAL starpumpi-1.3)
endif()
unset(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)

if(NOT heist_distributed_missing AND NOT TARGET heist_distributed)
  add_library(heist_distributed INTERFACE)
  add_library(heist::distributed ALIAS heist_distributed)
  target_link_libraries(heist_distributed INTERFACE heist::heist MPI::MPI_CXX Boost::serialization)
  if(TARGET PkgConfig::starpumpi)
    add_library(heist_distributed_starpu INTERFACE)
    add_library(heist::distributed_starpu ALIAS heist_distributed_starpu)
    target_link_libraries(heist_distributed_starpu INTERFACE heist_distributed PkgConfig::starpumpi)
  endif()
endif()
