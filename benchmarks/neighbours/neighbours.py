#!/usr/bin/env python3
"""Does a fork cost the same in every file? fib on one worker, alone in its file and in one that uses everything else, at -O2
and -O3, as headers and with heist::compiled: the median of ns per call over rounds in which all take turns, and instructions
per call where valgrind is.

  neighbours.py --compiler g++ --compiler clang++ > table.md
"""
import argparse
import itertools
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / "include"
SEPARATE = "-DHEIST_SEPARATE_COMPILATION"
LIBRARIES = ["-lhwloc", "-lboost_context", "-lfmt", "-ldl", "-pthread"]


def calls(n):
    before, number = 0, 1
    for _ in range(n):
        before, number = number, before + number
    return 2 * number - 1


def instructions(program, n):
    out = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, str(n)], check=True,
                         capture_output=True, text=True).stderr
    return int(re.search(r"Collected : (\d+)", out)[1])


def build(compiler, optimisation, mode, file, folder):
    program = os.path.join(folder, f"{compiler}{optimisation}_{mode}_{file}".replace("/", "_"))
    command = [compiler, "-std=c++20", optimisation, f"-I{INCLUDE}", str(HERE / f"{file}.cpp"), "-o", program]
    if mode == "compiled":
        bodies = os.path.join(folder, f"{compiler}{optimisation}.o".replace("/", "_"))
        if not os.path.exists(bodies):
            subprocess.run([compiler, "-std=c++20", optimisation, f"-I{INCLUDE}", SEPARATE, "-c", "-o", bodies,
                            str(INCLUDE.parent / "cmake/compiled.cpp")], check=True)
        command += [SEPARATE, bodies]
    subprocess.run(command + LIBRARIES, check=True)
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", action="append", help="as often as wanted; c++ without")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("-n", type=int, default=38, help="which Fibonacci number")
    options = parser.parse_args()
    compilers = options.compiler or ["c++"]
    rows = list(itertools.product(compilers, ("-O2", "-O3"), ("headers", "compiled"), ("alone", "everything")))
    with tempfile.TemporaryDirectory() as folder:
        programs = {}
        for row in rows:
            print("compiling", *row, file=sys.stderr)
            programs[row] = build(*row, folder)
        times = {row: [] for row in rows}
        for _ in range(options.rounds):
            for row in rows:
                times[row].append(float(subprocess.run([programs[row], str(options.n)], check=True, capture_output=True,
                                                       text=True).stdout))
        medians = {row: statistics.median(t) for row, t in times.items()}
        print("| compiler | | bodies | fib | ns/call | to the compiler's best | instructions/call |\n|---|---|---|---|---|---|---|")
        for row in rows:
            best = min(m for r, m in medians.items() if r[0] == row[0])
            counted = ""
            if shutil.which("valgrind"):
                counted = f"{(instructions(programs[row], 20) - instructions(programs[row], 10)) / (calls(20) - calls(10)):.2f}"
            print("|", " | ".join(row), f"| {medians[row]:.3f} | {medians[row] / best:.2f} | {counted} |", flush=True)


if __name__ == "__main__":
    main()
