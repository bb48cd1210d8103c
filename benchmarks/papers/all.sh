#!/bin/sh
# all.sh [BUILD] [COMMAND...]: builds bench_papers and bench_corun in BUILD (default: build/papers), runs every command, or those
# named, and writes their tables into the pages of this folder. Simulations repeat to the last digit; calibrate and corun measure.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$here/../..
build=${1:-$root/build/papers}
[ $# -eq 0 ] || shift
cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DHEIST_TESTS=OFF -DHEIST_BENCHMARKS=ON > /dev/null
cmake --build "$build" --target bench_papers bench_corun
programs=$(dirname "$(find "$build" -name bench_papers -type f | head -n 1)")
exec python3 -B "$here/page.py" "$programs" "$@"
