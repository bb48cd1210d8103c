#!/usr/bin/env python3
"""Runs the Spin models: each as it stands must be free of errors, each with a seeded bug must have one.

Searches for assertions and invalid end states; compiled with -DNOCLAIM, because a claim would switch the search for
invalid end states off. Prints one line per search, then the totals.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

BUSY = {"BUSY": 1}
STOP = {"WORKERS": 2, "TASKS": 2, "CHILDREN": 1}
ALONE = {"ALONE": 1}
OF_BUSY = {"ALONE": 1, "HOME": 1}
TOGETHER = {"HEADS_ONLY": 1, "TOGETHER": 1}
AWAY = {"HEADS_ONLY": 1, "AWAY": 1}
RUN, RUNS = {"RUNS": 1}, {"RUNS": 2}
SILENCE = {"RUNS": 1, "GIVES_UP": 1}
AT_START = {"RUNS": 2, "AT_START": 1}

# With one of these a model is so small that optimizing the checker, or a large hash table, costs more than the search.
SMALL = {"ALONE", "HEADS_ONLY"}

# model, name, constants: no error
SOUND = [
    ("park", "3 workers, 1 task pushes 2", {**BUSY, "WORKERS": 3, "TASKS": 1, "CHILDREN": 2}),
    ("park", "3 workers, 2 tasks push 1", {**BUSY, "TASKS": 2, "CHILDREN": 1, "COARSE": 1}),
    ("park", "2 workers, 2 tasks push 1, stop", STOP),
    ("handoff", "2 tasks wait twice, 2 workers", {}),
    ("handoff", "3 tasks wait, 2 workers", {"TASKS": 3, "ROUNDS": 1}),
    ("handoff", "2 tasks wait, 3 workers", {"WORKERS": 3, "ROUNDS": 1}),
    ("leader", "2 squads of 2, 2 subtrees", {"EARLY": 1}),
    ("leader", "squads of 2 and 1, 3 subtrees", {"SHORT": 1, "TASKS": 3}),
    ("leader", "squads of 2 and 1, head away", {"SHORT": 1, "AWAY": 1}),
    ("leader", "1 squad of 2, the other busy", ALONE),
    ("leader", "the same, root of the busy one", OF_BUSY),
    ("leader", "2 heads, subtrees need both", TOGETHER),
    ("leader", "2 heads, one away", AWAY),
    ("ranks", "2 ranks, 2 runs", RUNS),
    ("ranks", "the same, one cannot be started", AT_START),
    ("ranks", "1 run, a loss, patience ends", SILENCE),
    ("ranks", "the same, it cannot be started", {**SILENCE, "AT_START": 1}),
]

# model, bug, constants: an error
SEEDED = [
    *(("park", bug, BUSY) for bug in ("NO_RECHECK", "NO_LIGHT_FENCE", "FULL_FOR_HEAVY", "NO_FENCE_BEFORE_THIEVES",
                                      "PUSH_SILENT", "NOTIFY_BEFORE_PUSH", "LAST_THIEF_SILENT", "NOT_ANNOUNCED",
                                      "CANCEL_LEAVES")),
    *(("park", bug, {**BUSY, "WORKERS": 2, "TASKS": 2, "CHILDREN": 0}) for bug in ("SUBMIT_SILENT", "SUBMIT_NO_FENCE")),
    *(("park", bug, STOP) for bug in ("STOP_SILENT", "STOP_NOT_RECHECKED")),
    *(("handoff", bug, {}) for bug in ("PUBLISH_BEFORE_SWITCH", "ERROR_TEXT_IGNORED", "RESUMED_TWICE",
                                       "CACHED_WHILE_PARKED", "FREED_WHILE_PARKED", "RESUMED_ALTHOUGH_ENLISTED",
                                       "NOT_NOTIFIED")),
    *(("leader", bug, ALONE) for bug in ("NO_RECHECK", "ASLEEP_SET_LATE", "PIN_SILENT", "RELEASE_SILENT",
                                         "MEMBER_TAKES", "BUSY_NOT_SET", "RELEASED_WITH_LEAVES", "NEVER_RELEASED",
                                         "ONE_CALLED", "STOP_SILENT")),
    ("leader", "PINNED_TO_BUSY_WAITS", OF_BUSY),
    *(("leader", bug, TOGETHER) for bug in ("RECHECK_OWN_POOL", "ADD_SILENT")),
    *(("leader", bug, AWAY) for bug in ("PINNED_TO_AWAY_WAITS", "LEAVES_SILENT")),
    *(("ranks", bug, RUNS) for bug in ("NONE_UNSENT", "IMPATIENT", "NO_NUMBER", "EARLY_RELEASED")),
    *(("ranks", bug, RUN) for bug in ("JUDGED_EARLY", "FAILURE_UNSAID", "REPORTS_MIXED")),
    *(("ranks", bug, SILENCE) for bug in ("CLAIMED_LATE", "TAKEN_ANYWAY", "END_AWAITED")),
    *(("ranks", bug, AT_START) for bug in ("START_SENDS_NOTHING", "START_OUT_OF_LINE")),
]


def search(options, model, constants):
    """Errors and states of one search."""
    source = pathlib.Path(__file__).resolve().parent / f"{model}.pml"
    folder = options.build
    defines = [f"-D{name}={value}" for name, value in constants.items()]
    made = subprocess.run([options.spin, *defines, "-a", str(source)], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if made.returncode != 0 or "error" in made.stdout.lower():
        sys.exit(f"spin does not understand {source} with {defines}:\n{made.stdout}")
    level, table = ("-O0", "-w18") if SMALL & constants.keys() else ("-O1", "-w24")
    subprocess.run([options.cc, level, "-w", "-DNOCLAIM", "-DSAFETY", "-DCOLLAPSE", "-DVECTORSZ=4096", "-o", "pan",
                    "pan.c"], cwd=folder, check=True)
    out = subprocess.run(["./pan", table, "-m1000000"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True).stdout
    errors = re.search(r"errors: (\d+)", out)
    states = re.search(r"(\d+) states, stored", out)
    if errors is None or states is None or "max search depth too small" in out:
        sys.exit(f"{source} with {defines}: the search did not end:\n{out}")
    if re.search(r"Search not completed", out) and errors.group(1) == "0":
        sys.exit(f"{source} with {defines}: the search is not complete:\n{out}")
    return int(errors.group(1)), int(states.group(1)), re.search(r"pan:1: (.*?) \(at", out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="a folder for the generated checkers")
    parser.add_argument("--spin", default="spin")
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    parser.add_argument("--model", help="only this one")
    options = parser.parse_args()
    for program in (options.spin, options.cc):
        if shutil.which(program) is None:
            print(f"skipped: the Spin models need '{program}', which is not installed")
            return 0
    options.build.mkdir(parents=True, exist_ok=True)

    total = wrong = killed = seeded = 0
    for model, name, constants in SOUND:
        if options.model in (None, model):
            errors, states, reason = search(options, model, constants)
            total += states
            wrong += errors != 0
            print(f"spin     {model:8} {name:36} states {states:9}  errors {errors}"
                  + (f"  {reason.group(1)}" if reason else ""), flush=True)
    for model, bug, constants in SEEDED:
        if options.model in (None, model):
            errors, states, reason = search(options, model, {**constants, bug: 1})
            seeded += 1
            killed += errors != 0
            wrong += errors == 0
            print(f"spin     {model:8} {bug:36} {'killed' if errors else 'SURVIVED'} after {states} states"
                  + (f": {reason.group(1)}" if reason else ""), flush=True)
    print(f"spin     states {total}  bugs seeded {seeded}  killed {killed}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
