#!/usr/bin/env python3
"""How long a file that uses heist, or a peer, takes to compile: the median of the compiler's user time over some rounds, in
which all take turns; with the lines that the compiler reads (-E -P), and the size of the code that it makes.

  compile_time.py --compiler g++ --compiler clang++ \\
                  --peer taskflow=FOLDER_WITH_taskflow/ --peer libfork=... --peer parlaylib=... --peer tbb= > table.md

The programs beside this file are <what>_<library>.cpp. heist is compiled as headers and for heist::compiled; the time of
the one file of bodies that the latter needs once is a row of its own.
"""
import argparse
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / "include"
SEPARATE = "-DHEIST_SEPARATE_COMPILATION"


class Row:
    """A file, compiled in one way."""

    def __init__(self, what, name, source, flags):
        self.what, self.name, self.source, self.flags, self.seconds = what, name, source, flags, []

    def command(self, compiler, *more):
        return [compiler, "-std=c++20", "-pthread", *self.flags, *more, str(self.source)]

    def compile(self, compiler, optimisation, out):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run(self.command(compiler, optimisation, "-c", "-o", out), capture_output=True, text=True)
        self.seconds.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        if done.returncode != 0 and self.name.startswith("heist"):
            sys.exit(done.stderr)
        return done.returncode == 0

    def lines(self, compiler):
        text = subprocess.run(self.command(compiler, "-E", "-P"), check=True, capture_output=True, text=True).stdout
        return text.count("\n")


def rows(peers, folder):
    found = []
    for source in sorted(HERE.glob("*_*.cpp")):
        what, library = source.stem.split("_", 1)
        if library == "heist":
            found.append(Row(what, "heist", source, [f"-I{INCLUDE}"]))
            found.append(Row(what, "heist::compiled", source, [f"-I{INCLUDE}", SEPARATE]))
        elif library in peers:
            found.append(Row(what, library, source, [f"-isystem{peers[library]}"] if peers[library] else []))
    for door in ("heist", "graph", "fork_join", "executor"):
        source = pathlib.Path(folder) / f"{door}.cpp"
        source.write_text(f"#include <heist/{door}.hpp>\n")
        found.append(Row(f"{door}.hpp alone", "heist", source, [f"-I{INCLUDE}"]))
        found.append(Row(f"{door}.hpp alone", "heist::compiled", source, [f"-I{INCLUDE}", SEPARATE]))
    if "taskflow" in peers:
        source = pathlib.Path(folder) / "taskflow.cpp"
        source.write_text("#include <taskflow/taskflow.hpp>\n")
        found.append(Row("heist.hpp alone", "taskflow", source, [f"-isystem{peers['taskflow']}"]))
    bodies = pathlib.Path(folder) / "bodies.cpp"
    bodies.write_text("#include <heist/src.hpp>\n")
    found.append(Row("the bodies, once", "heist::compiled", bodies, [f"-I{INCLUDE}", SEPARATE]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", action="append", help="as often as wanted; c++ without")
    parser.add_argument("--peer", action="append", default=[], metavar="LIBRARY=FOLDER",
                        help="taskflow, tbb, libfork or parlaylib, and where its headers are; nothing: the system's")
    parser.add_argument("--optimisation", default="-O2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", metavar="REGEX", help="the programs whose names it matches: 'graph|alone'")
    options = parser.parse_args()
    peers = dict(p.partition("=")[::2] for p in options.peer)
    unknown = [p for p in peers if not list(HERE.glob(f"*_{p}.cpp"))]
    if unknown:
        parser.error(f"there is no program for {', '.join(unknown)}")
    print("| compiler | program | library | user s | to heist | lines | text, bytes |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for compiler in options.compiler or ["c++"]:
            table = [row for row in rows(peers, folder) if re.search(options.only, row.what)]
            objects = {row: os.path.join(folder, f"{i}.o") for i, row in enumerate(table)}
            for r in range(options.rounds):
                for row in list(table):
                    if not row.compile(compiler, options.optimisation, objects[row]):
                        table.remove(row)
                        print(f"{compiler} cannot compile {row.source.name}: left out", file=sys.stderr)
                print(f"{compiler}: round {r + 1} of {options.rounds}", file=sys.stderr)
            heist = {row.what: statistics.median(row.seconds) for row in table if row.name == "heist"}
            for row in table:
                seconds = statistics.median(row.seconds)
                size = subprocess.run(["size", objects[row]], check=True, capture_output=True, text=True).stdout.split()[6]
                ratio = f"{seconds / heist[row.what]:.2f}" if row.what in heist else ""
                print(f"| {compiler} | {row.what} | {row.name} | {seconds:.2f} | {ratio} | {row.lines(compiler)} | {size} |",
                      flush=True)


if __name__ == "__main__":
    main()
