#!/bin/sh
# Installs what is missing, builds heist in release mode, and runs the main example: the timing of a 64 x 64 multiplier.
set -eu
unset CDPATH
cd -- "$(dirname -- "$0")/.."
. cmake/packages.sh

heist_need compiler cmake ninja pkg-config hwloc boost-context fmt cli11
cmake --preset release -DHEIST_TESTS=OFF -DHEIST_BENCHMARKS=OFF
cmake --build --preset release --target example_timing -j "$(heist_jobs)"

echo
echo "build/release/examples/example_timing --multiplier 64"
exec build/release/examples/example_timing --multiplier 64
