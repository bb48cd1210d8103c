#!/bin/sh
# Measures this machine under heist: installs what is missing, builds one program in release mode, and hands its arguments to
# benchmarks/measure/measure.py, which writes a page and a file of figures to the folder measured/.
set -eu
unset CDPATH
start=$PWD
cd -- "$(dirname -- "$0")/.."
. cmake/packages.sh

heist_need python
build=1
for argument; do
  case $argument in
    -h | --help | compare | page) build=0 ;;
  esac
done
if [ "$build" = 1 ]; then
  heist_need compiler cmake ninja pkg-config hwloc boost-context fmt cli11 json
  cmake --preset release -DHEIST_TESTS=OFF -DHEIST_EXAMPLES=OFF
  cmake --build --preset release --target bench_measure -j "$(heist_jobs)"
  echo
fi
script=$PWD/benchmarks/measure/measure.py
cd -- "$start"
exec python3 -B "$script" "$@"
