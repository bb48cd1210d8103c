#!/bin/sh
# Installs what is missing, builds the proof in release mode, runs it, and prints it as one page. Under 20 minutes on 2
# cores, the build included. Arguments are handed to tests/prove.py: --short, --only fuzz, --cases 1000000, --help.
set -eu
unset CDPATH
cd -- "$(dirname -- "$0")/.."
. cmake/packages.sh

heist_need compiler cmake ninja pkg-config hwloc boost-context fmt cli11 json png catch2 python spin clang
cmake --preset release -DHEIST_BENCHMARKS="${HEIST_BENCHMARKS:-OFF}" -DHEIST_HEAVY_TESTS="${HEIST_HEAVY_TESTS:-ON}" \
  -DHEIST_UNITY_TESTS=ON
cmake --build --preset release --target proof -j "$(heist_jobs)"
exec python3 -B tests/prove.py --build build/release "$@"
