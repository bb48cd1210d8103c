#!/bin/sh
# Installs what is missing, builds heist and its tests in release mode, and runs them. Arguments are handed to ctest.
set -eu
unset CDPATH
cd -- "$(dirname -- "$0")/.."
. cmake/packages.sh

heist_need compiler cmake ninja pkg-config hwloc boost-context fmt cli11 json png catch2 python
cmake --preset release -DHEIST_BENCHMARKS="${HEIST_BENCHMARKS:-OFF}" -DHEIST_HEAVY_TESTS="${HEIST_HEAVY_TESTS:-ON}" \
  -DHEIST_UNITY_TESTS=ON
cmake --build --preset release -j "$(heist_jobs)"
exec ctest --preset release -j "$(heist_jobs)" "$@"
