#!/usr/bin/env python3
"""Writes all of heist as one header: python3 cmake/single_header.py > heist.hpp

Every include of heist is replaced by the file, once, where the compiler would read it; what heist needs of others (hwloc,
Boost.Context, fmt) stays an include. Nothing else changes."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOORS = ["heist/heist.hpp", "heist/locality.hpp", "heist/measure.hpp", "heist/observe.hpp", "heist/simulate.hpp",
         "heist/run_loop.hpp", "heist/subgraph.hpp", "heist/sync.hpp", "heist/thread_limit.hpp", "heist/topology.hpp", "heist/report.hpp", "heist/configuration.hpp"]
INCLUDE = re.compile(r'\s*#\s*include\s*"(heist/[^"]+)".*')

seen = set()


def inlined(name):
    if name in seen:
        return
    seen.add(name)
    yield f"// ---- {name}"
    for line in (ROOT / "include" / name).read_text(encoding="utf-8").splitlines():
        included = INCLUDE.fullmatch(line)
        if included:
            yield from inlined(included[1])
        elif line != "#pragma once":
            yield line


version = re.search(r"project\(heist VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
lines = [
    f"// heist {version} as one header, made by cmake/single_header.py. Apache-2.0.",
    "//   g++ -std=c++20 -O2 program.cpp -lhwloc -lboost_context -lfmt -pthread",
    "#pragma once",
    "#if defined(HEIST_SEPARATE_COMPILATION)",
    '#error "heist: one header has all bodies; fix it by compiling without HEIST_SEPARATE_COMPILATION."',
    "#endif",
]
for door in DOORS:
    lines.extend(inlined(door))
sys.stdout.write("\n".join(lines) + "\n")
