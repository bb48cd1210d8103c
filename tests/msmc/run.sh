#!/bin/sh
# Runs a program of squads on emulated machines with several sockets, for right or wrong, not for speed.
#
#   HEIST_MSMC_VM=/path/to/msmc-vm sh tests/msmc/run.sh PROGRAM
#
# HEIST_MSMC_VM is a script that boots such a machine and runs a program in it: msmc-vm --topo SxC [--threads ...] --
# PROGRAM ARGUMENT..., with the program's exit status. PROGRAM is squads_here, built. Exit status: 0 if all is right; 77,
# after a sentence, if there is nothing to run it with; 1 otherwise.
set -u

if [ -z "${HEIST_MSMC_VM:-}" ]; then
  echo "skipped: HEIST_MSMC_VM does not name a script that boots an emulated machine"
  exit 77
fi
if ! [ -x "$HEIST_MSMC_VM" ]; then
  echo "skipped: HEIST_MSMC_VM names '$HEIST_MSMC_VM', which cannot be run"
  exit 77
fi
program=${1:-}
if ! [ -x "$program" ]; then
  echo "usage: HEIST_MSMC_VM=... sh $0 PROGRAM; '$program' is no program" >&2
  exit 1
fi

# run MACHINE SQUADS WORKERS OPTION...: what the program must find there
wrong=0
run() {
  machine=$1 squads=$2 workers=$3
  shift 3
  echo "== $machine $*"
  "$HEIST_MSMC_VM" --topo "$machine" --timeout 300 "$@" -- "$program" "$squads" "$workers"
  status=$?
  if [ "$status" -eq 125 ]; then
    echo "skipped: the emulated machine did not start"
    exit 77
  fi
  if [ "$status" -ne 0 ]; then
    echo "$machine: exit status $status"
    wrong=1
  fi
}

run 2x4 2 8
run 4x4 4 16
run 2x4 2 6 --offline 1,5  # holes in the numbers of CPUs
exit "$wrong"
