#!/bin/sh
# Compares heist with the peers that distributions package: installs what is missing, builds the benchmarks with each peer that
# is there, and hands its arguments to benchmarks/measure/peers.py, which prints a table and writes a page to the folder measured/.
set -eu
unset CDPATH
start=$PWD
began=$(date +%s)
cd -- "$(dirname -- "$0")/.."
. cmake/packages.sh

heist_need python
script=$PWD/benchmarks/measure/peers.py
for argument; do
  case $argument in
    -h | --help) exec python3 -B "$script" --help ;;
  esac
done
heist_need compiler cmake ninja pkg-config hwloc boost-context fmt benchmark
heist_want tbb openmp taskflow
cmake --preset release -B build/compare -DHEIST_TESTS=OFF -DHEIST_EXAMPLES=OFF -DHEIST_DEVELOPER_WARNINGS=OFF \
  -DHEIST_BENCHMARKS_SHORT=ON
cmake --build build/compare --target bench_peers -j "$(heist_jobs)"
echo
cd -- "$start"
exec python3 -B "$script" --spent $(($(date +%s) - began)) "$@"
