#!/bin/sh
# Fuzzes each reader with libFuzzer: run_libfuzzer.sh PROGRAM SECONDS-FOR-EACH [TARGET...]
# PROGRAM is fuzz_readers_libfuzzer. What libFuzzer learns stays in ./corpus_<target>, what it finds is ./crash-*.
set -eu
[ $# -ge 2 ] || {
  echo "usage: $0 PROGRAM SECONDS [TARGET...]" >&2
  exit 2
}
program=$1
seconds=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- json synthetic xml cgroup squads steal_tree graph_memory profile recording netlist

crashes=0
inputs=0
for target; do
  mkdir -p "corpus_$target"
  log="corpus_$target.log"
  status=0
  "$program" "--target=$target" -max_len=8192 -timeout=20 -rss_limit_mb=2048 "-max_total_time=$seconds" \
    -print_final_stats=1 "-dict=$here/dictionaries/$target.dict" "corpus_$target" "$here/corpus/$target" \
    >"$log" 2>&1 || status=$?
  runs=$(awk '/stat::number_of_executed_units/ { print $2 }' "$log")
  edges=$(awk '{ for (i = 1; i < NF; i++) if ($i == "cov:") c = $(i + 1) } END { print c + 0 }' "$log")
  inputs=$((inputs + ${runs:-0}))
  echo "libfuzzer  $target  inputs ${runs:-?}  edges $edges  $([ $status -eq 0 ] && echo "nothing found" || echo FOUND)"
  if [ $status -ne 0 ]; then
    crashes=$((crashes + 1))
    grep -E 'ERROR|terminate|what\(\)|SUMMARY|Test unit written' "$log" >&2 || tail -n 20 "$log" >&2
  fi
done
echo "libfuzzer  targets $#  inputs $inputs  crashes $crashes"
[ "$crashes" -eq 0 ]
