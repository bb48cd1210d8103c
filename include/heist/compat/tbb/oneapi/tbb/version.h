// The version of oneTBB whose interface the layer has.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/detail/task_state.hpp"

#define ONETBB_SPEC_VERSION 104
#define TBB_VERSION_MAJOR 2023
#define TBB_VERSION_MINOR 2
#define TBB_VERSION_PATCH 0
#define TBB_VERSION_STRING "2023.2.0"
#define TBB_INTERFACE_VERSION 12200
#define TBB_INTERFACE_VERSION_MAJOR 12
#define TBB_INTERFACE_VERSION_MINOR 20

extern "C" inline char const* TBB_runtime_version() {
  return TBB_VERSION_STRING;
}
extern "C" inline int TBB_runtime_interface_version() {
  return TBB_INTERFACE_VERSION;
}
