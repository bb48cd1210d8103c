#!/bin/sh
# Stands in for the programs that benchmarks/measure/peers.py calls: the same output, with figures that are made up.
# HEIST_STAND_IN_PAUSE: seconds that a call takes. HEIST_STAND_IN_FAILS: the program that fails.
set -eu
name=${0##*/}
arguments=" $* "

case $arguments in
  *--benchmark_list_tests=true*)
    case $name in
      bench_fork_join_*) printf '%s/manual_time\n' fib/p1 fib/p2 fib/serial fib/p2@leapfrog ;;
      *) printf '%s/manual_time\n' build/dag/iterations:3 rerun/dag/p2 one_shot/chain/p2 memory/chain async_inside/p2 ;;
    esac
    exit
    ;;
esac
[ -z "${HEIST_STAND_IN_PAUSE:-}" ] || sleep "$HEIST_STAND_IN_PAUSE"
row=${arguments##* --row }
row=${row% }
case $name in
  *_tbb) value=200000 ;;
  *_taskflow) value=50000 ;;
  *) value=100000 ;;
esac
if [ "${HEIST_STAND_IN_FAILS:-}" = "$name" ]; then
  echo '{"benchmarks": [{"error_occurred": true, "error_message": "the result is wrong"}]}'
elif [ "$name" = bench_algorithms ]; then
  printf '8 elements, 2 workers; microseconds\n| | serial | heist | heist, outside | std par, outside | OpenMP |\n|---|---|---|---|---|---|\n'
  printf '| %s | 9 | 9 | %s | %s | |\n' "$row" 3 3
elif [ "$name" = bench_dynamic ]; then
  printf '2 workers; nanoseconds\n%31s %12s %12s %12s\n' '' heist oneTBB OpenMP
  printf '%-24s %-6s %12s %12s %12s %12s\n' "$row" task 40.0 50.0 - 0.8
else
  echo "{\"benchmarks\": [{\"value\": $value}]}"
fi
