#!/usr/bin/env python3
"""Compiles the programs with planted bugs under each sanitizer: it must report the bug, and nothing in the clean twin.

One executable for each sanitizer; it is called with a program's name, and `planted` or `clean`. Prints one line for
each that is not as it must be, then the totals.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys

LIMIT = 1800  # seconds: a guard against hangs for programs that take less than one
COMMON = "-O1 -g1 -fno-omit-frame-pointer -fno-sanitize-recover=all"
FLAGS = {  # as cmake/sanitizers.cmake has them
    "address": "-fsanitize=address,undefined -fno-sanitize=null,object-size",
    "thread": "-fsanitize=thread",
}
RETURN = "strict_init_order=1:check_initialization_order=1:strict_string_checks=1:detect_stack_use_after_return=1"
NO_RETURN = "detect_stack_use_after_return=0"

# program, what the report must say, options
ADDRESS = [
    ("heap_after_a_steal", "AddressSanitizer: heap-use-after-free", RETURN),
    ("heap_after_a_park", "AddressSanitizer: heap-use-after-free", RETURN),
    ("beyond_a_local", "AddressSanitizer: stack-buffer-overflow", RETURN),
    ("beyond_a_local", "AddressSanitizer: stack-buffer-overflow", NO_RETURN),
    ("frame_of_a_child", "AddressSanitizer: stack-use-after-return", RETURN),
    ("frame_of_a_child", "AddressSanitizer: use-after-poison", NO_RETURN),
    ("leak_in_a_child", "LeakSanitizer: detected memory leaks", RETURN),
    ("leak_in_a_child", "LeakSanitizer: detected memory leaks", NO_RETURN),
    ("memory_of_a_waiting_task", "LeakSanitizer: detected memory leaks", RETURN),
    ("exceptions_through_forks", "AddressSanitizer: heap-use-after-free", RETURN),
    ("signed_overflow", "runtime error: signed integer overflow", RETURN),
    ("misaligned_load", "runtime error: load of misaligned address", RETURN),
]
RACE = "ThreadSanitizer: data race"
ORDER = "halt_on_error=1:second_deadlock_stack=1:history_size=7"
THREAD = [
    ("two_children", RACE, ORDER),
    ("parent_and_child", RACE, ORDER),
    ("joins_order", RACE, ORDER),
    ("future_not_awaited", RACE, ORDER),
    ("fibers_used_again", RACE, ORDER),
    ("handed_over_in_a_handler", RACE, ORDER),
    ("system_lock_across_a_fork", "unlocked by a thread that does not own it", ORDER),
]
PROGRAMS = {"address": ADDRESS, "thread": THREAD}
ANY_REPORT = re.compile(r"Sanitizer|runtime error")


def build(compiler, sanitizer, options):
    executable = options.build / f"{sanitizer}_{re.sub(r'[^a-z0-9]', '_', pathlib.Path(compiler).name)}"
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", *shlex.split(COMMON), *shlex.split(FLAGS[sanitizer]),
               *shlex.split(options.flags), f"-I{options.source}/include", f"-I{options.source}/tests",
               str(options.source / "tests/sanitizers" / f"{sanitizer}.cpp"), "-o", str(executable),
               *shlex.split(options.libraries)]
    subprocess.run(command, check=True)
    return executable


def run(command, sanitizer, settings):
    env = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1")
    env["TSAN_OPTIONS" if sanitizer == "thread" else "ASAN_OPTIONS"] = settings
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=LIMIT, env=env)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return None, f"hangs: not ready after {LIMIT} s"


def starter(executable, sanitizer):
    """What it takes to start it: the thread sanitizer's older runtimes do not know the address spaces of new kernels, or
    only some of those that a kernel chooses at random."""
    fixed = ["setarch", platform.machine(), "--addr-no-randomize"]
    if sanitizer == "thread" and shutil.which("setarch") and run([*fixed, executable], sanitizer, "")[0] == 0:
        return fixed
    return [] if all(run([executable], sanitizer, "")[0] == 0 for _ in range(8)) else None


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, default=here.parent.parent)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="a folder for the programs")
    parser.add_argument("--compilers", nargs="+", default=[os.environ.get("CXX", "c++")])
    parser.add_argument("--sanitizers", nargs="+", default=list(PROGRAMS), choices=list(PROGRAMS))
    parser.add_argument("--flags", default="", help="for all compilations")
    parser.add_argument("--libraries", default="-lfmt -lhwloc -lboost_context -lpthread")
    parser.add_argument("--rounds", type=int, default=1, help="each program so many times")
    parser.add_argument("--json", type=pathlib.Path, help="the figures, for other programs")
    parser.add_argument("--verbose", action="store_true", help="say also what was reported")
    options = parser.parse_args()
    options.build.mkdir(parents=True, exist_ok=True)

    planted = reported = twins = silent = 0
    skipped = []
    for compiler in options.compilers:
        if not shutil.which(compiler):
            skipped.append(f"there is no compiler {compiler}")
            continue
        for sanitizer in options.sanitizers:
            executable = build(compiler, sanitizer, options)
            start = starter(executable, sanitizer)
            if start is None:
                skipped.append(f"programs of {compiler} with -fsanitize={sanitizer} do not start here")
                continue
            for program, expected, settings in PROGRAMS[sanitizer] * options.rounds:
                code, text = run([*start, executable, program, "planted"], sanitizer, settings)
                good = code not in (0, None) and expected in text
                planted, reported = planted + 1, reported + good
                where = f"{compiler} {sanitizer} {program}"
                if not good or options.verbose:
                    word = "reported" if good else f"NOT REPORTED as '{expected}', exit code {code}"
                    lines = text.splitlines()
                    shown = [line for line in lines if expected in line][:1] if good else lines[:60]
                    print(f"sanitizers {where}: {word}" + "".join("\n    " + line for line in shown))
                code, text = run([*start, executable, program, "clean"], sanitizer, settings)
                good = code == 0 and not ANY_REPORT.search(text)
                twins, silent = twins + 1, silent + good
                if not good:
                    print(f"sanitizers {where}: the clean twin is NOT SILENT, exit code {code}\n{text}")
    for reason in skipped:
        print(f"sanitizers skipped: {reason}")
    print(f"sanitizers planted {planted} reported {reported} twins {twins} silent {silent}")
    if options.json:
        options.json.write_text(json.dumps({"planted": planted, "reported": reported, "twins": twins,
                                            "silent": silent, "skipped": skipped}) + "\n")
    return 0 if planted == reported and twins == silent else 1


if __name__ == "__main__":
    sys.exit(main())
