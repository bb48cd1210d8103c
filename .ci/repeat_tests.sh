#!/usr/bin/env bash
# Runs the user's tests again and again beside processes that keep all processors busy, and counts the runs that fail:
#   .ci/repeat_tests.sh [RUNS [BUSY [ctest arguments...]]]      20 runs beside 4 busy processes, if not told otherwise
# Prints each failure as it comes, and at the end the number of runs, of failures, and the longest run.
set -euo pipefail
unset CDPATH
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
. cmake/packages.sh
runs=${1:-20}
busy=${2:-4}
shift $(($# < 2 ? $# : 2))

cmake --preset test >/dev/null
cmake --build --preset test -j "$(heist_jobs)" >/dev/null

# Beside busy processes tests mostly stand and wait for their turns: many at once wait no longer than few.
at_once=$((4 * $(heist_jobs)))
others=()
stop_others() { [ ${#others[@]} -eq 0 ] || kill "${others[@]}" 2>/dev/null || true; }
trap stop_others EXIT
for ((i = 0; i < busy; ++i)); do
  (while :; do :; done) &
  others+=($!)
done

failed=0
longest=0
for ((run = 1; run <= runs; ++run)); do
  began=$SECONDS
  if output=$(ctest --preset test -j "$at_once" "$@" 2>&1 </dev/null); then
    result=passed
  else
    result=FAILED
    failed=$((failed + 1))
    printf '%s\n' "$output" | tail -n 200
  fi
  took=$((SECONDS - began))
  [ "$took" -le "$longest" ] || longest=$took
  printf 'run %2d: %s, %d s, beside %d busy processes\n' "$run" "$result" "$took" "$busy"
done
printf '%d runs beside %d busy processes: %d failed, the longest took %d s\n' "$runs" "$busy" "$failed" "$longest"
[ "$failed" -eq 0 ]
