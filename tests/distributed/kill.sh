#!/bin/sh
# sh kill.sh MPIRUN PROGRAM RANKS TIMES: kills each rank of `PROGRAM forever` TIMES times by signal 9 at different moments.
# Afterwards mpirun must have ended by itself with an error, and no process of the program be left. Prints how long it
# took: 10 s are promised, and this gives up after 60, for machines with other work.
set -u
mpirun=$1 program=$2 ranks=$3 times=$4
out=$(mktemp)
trap 'rm -f "$out"' EXIT
now() { date +%s%N; }
longest=0
rank=0
while [ "$rank" -lt "$ranks" ]; do
  time=0
  while [ "$time" -lt "$times" ]; do
    : >"$out"
    "$mpirun" -n "$ranks" "$program" forever >"$out" 2>&1 &
    launcher=$!
    waited=0
    while [ "$(grep -c '^rank .* is process' "$out")" -lt "$ranks" ]; do
      sleep 0.05
      waited=$((waited + 1))
      [ "$waited" -lt 1200 ] || { echo "the program did not start:"; cat "$out"; exit 1; }
    done
    pids=$(sed -n 's/^rank .* is process //p' "$out")
    victim=$(sed -n "s/^rank $rank is process //p" "$out")
    sleep "0.$(((rank * 7 + time * 13 + 3) % 10))$(((rank + time * 3) % 10))"
    kill -9 "$victim"
    began=$(now)
    left=$pids
    while kill -0 "$launcher" 2>/dev/null || [ -n "$left" ]; do
      [ $((($(now) - began) / 1000000000)) -lt 60 ] || { echo "rank $rank killed: left after 60 s: $left, mpirun $launcher"; exit 1; }
      sleep 0.02
      left=
      for p in $pids; do
        # A process that has ended and that nobody has asked for is none.
        case $(sed 's/.*) //' "/proc/$p/stat" 2>/dev/null) in '' | Z*) ;; *) left="$left $p" ;; esac
      done
      case $(sed 's/.*) //' "/proc/$launcher/stat" 2>/dev/null) in '' | Z*) [ -n "$left" ] || break ;; esac
    done
    took=$((($(now) - began) / 1000000))
    wait "$launcher" && { echo "rank $rank killed: mpirun ended as if all were well"; exit 1; }
    [ "$took" -le "$longest" ] || longest=$took
    time=$((time + 1))
  done
  rank=$((rank + 1))
done
echo "each of $ranks ranks killed $times times: an end within $longest ms, nothing left"
