#!/usr/bin/env python3
"""Runs oneTBB's own example programs on heist and on oneTBB: run_tbb_examples.py [ONETBB_CHECKOUT] [--only NAME,...] [--policy NAME]

The checkout is a clone of https://github.com/uxlfoundation/oneTBB, or what TBB_DIR names. Builds oneTBB and, as they are, its
examples with their own CMake files: once as they come, and once with include/heist/compat/tbb before oneTBB's headers, of which
its containers remain. Both then run in turn. Prints whether what they print and write is equal (numbers of seconds do not
count), the medians of their times, and heist's over oneTBB's."""
import os
import re
import statistics
import subprocess
import sys
import time

import runner

# Policies of heist's side, and the header that has each. Those with squads run on two squads of one core.
POLICIES = {
    "random": ("heist::policy::random", "heist/policy.hpp"),
    "child-first": ("heist::policy::with_order<heist::policy::random,heist::order::child_first>", "heist/policy.hpp"),
    "cab": ("heist::policy::cab", "heist/locality.hpp"),
    "automatic": ("heist::policy::automatic", "heist/locality.hpp"),
}
TWO_SQUADS = "package:2 l3:1 core:1 pu:1"

# Example, program, arguments, its result. The arguments give each enough work, and the programs their most threads.
# A result is a file that the program writes, or "" for what it prints.
EXAMPLES = [
    ("getting_started/sub_string_finder", "sub_string_finder_extended", "", ""),
    ("concurrent_hash_map/count_strings", "count_strings", "auto 3000000", ""),
    ("concurrent_priority_queue/shortpath", "shortpath", "auto N=1000 start=0 end=999 verbose", ""),
    ("graph/binpack", "binpack", "auto elements_num=3000", None),  # each run packs differently
    ("graph/dining_philosophers", "dining_philosophers", "auto 2", None),
    ("graph/fgbzip2", "fgbzip2", "-b=9 copy", "copy.bz2"),
    ("graph/logic_sim", "logic_sim", "auto", ""),
    ("graph/som", "som", "2", None),
    ("migration/recursive_fibonacci", "recursive_fibonacci", "36 16 3 1", None),
    ("parallel_for/game_of_life", "game_of_life", "2:2 -t 1", None),  # counts what it does in a second
    ("parallel_for/polygon_overlay", "polygon_overlay", "--polys 5000 --size 1000x1000", None),
    ("parallel_for/seismic", "seismic", "auto 500 silent", None),
    ("parallel_for/tachyon", "tachyon", "silent {example}/dat/balls.dat", None),
    ("parallel_for_each/parallel_preorder", "parallel_preorder", "auto 50000 50", None),
    ("parallel_pipeline/square", "square", "auto input.txt output.txt", "output.txt"),
    ("parallel_reduce/convex_hull", "convex_hull_sample", "auto 8000000", None),
    ("parallel_reduce/pi", "pi", "auto 500000000", ""),
    ("parallel_reduce/primes", "primes", "auto 200000000 1000 3", None),
    ("task_arena/fractal", "fractal", "auto 1 20000 silent", None),
    ("task_group/sudoku", "sudoku", "auto {example}/input2 silent", ""),
    ("test_all/fibonacci", "fibonacci", "300 1:2 30", ""),
]

ON_HEIST = """
include_guard(GLOBAL)
foreach(part tbb tbbmalloc)
  add_library(TBB::${{part}} INTERFACE IMPORTED GLOBAL)
endforeach()
set_target_properties(TBB::tbb PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "{root}/include/heist/compat/tbb;{root}/include;{checkout}/include"
  INTERFACE_COMPILE_DEFINITIONS "HEIST_SEPARATE_COMPILATION;_GLIBCXX_USE_TBB_PAR_BACKEND=0;HEIST_COMPAT_POLICY={policy}"
  INTERFACE_COMPILE_OPTIONS "SHELL:-include {header}"
  INTERFACE_LINK_LIBRARIES "{build}/bodies.o;{library};boost_context;fmt;hwloc;dl")
"""
ON_ONETBB = """
include_guard(GLOBAL)
foreach(part tbb tbbmalloc)
  add_library(TBB::${{part}} INTERFACE IMPORTED GLOBAL)
endforeach()
set_target_properties(TBB::tbb PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "{checkout}/include" INTERFACE_LINK_LIBRARIES "{library}")
set_target_properties(TBB::tbbmalloc PROPERTIES INTERFACE_LINK_LIBRARIES "{malloc}")
"""

wanted, checkout, examples, build = runner.arguments(
    __doc__, "TBB_DIR", "examples", "build/compat_tbb_examples",
    lambda parser: (parser.add_argument("--rounds", type=int, default=7),
                    parser.add_argument("--policy", choices=POLICIES, default="random", help="of heist")))
checkout, examples, build = checkout.resolve(), examples.resolve(), build.resolve()


def done(*command, **more):
    made = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", **more)
    return made.returncode, made.stdout + made.stderr


def cmake(source, folder, *more):
    """What fails, or an empty text."""
    for command in [["cmake", "-G", "Ninja", "-S", source, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_COMPILER={wanted.cxx}",
                     "-DCMAKE_CXX_STANDARD=20", "-DCMAKE_CXX_FLAGS=-w " + wanted.flags, *more], ["cmake", "--build", folder]]:
        failed, text = done(*command)
        if failed:
            return text
    return ""


def built(name):
    return next((build / "onetbb").rglob(f"lib{name}.so"), None)


if built("tbb") is None:
    print("building oneTBB ...", flush=True)
    if error := cmake(checkout, build / "onetbb", "-DTBB_TEST=OFF", "-DTBB_STRICT=OFF"):
        sys.exit(error[-2000:])
runner.prepare(wanted.cxx, ["-std=c++20", "-O2", "-w", f"-I{runner.ROOT}/include", "-pthread"], build,
               [("bodies.o", ["-DHEIST_SEPARATE_COMPILATION", "-c", f"{runner.ROOT}/cmake/compiled.cpp"], False)])
HEIST = "heist" if wanted.policy == "random" else "heist_" + wanted.policy
SIDES = {HEIST: ON_HEIST, "onetbb": ON_ONETBB}
policy, header = POLICIES[wanted.policy]
for side, text in SIDES.items():
    (build / f"{side}.cmake").write_text(text.format(root=runner.ROOT, checkout=checkout, build=build, library=built("tbb"),
                                                     malloc=built("tbbmalloc"), policy=policy, header=header))
if header == "heist/locality.hpp":
    os.environ.setdefault("HEIST_TOPOLOGY", TWO_SQUADS)


def results(text):
    """What a program prints, without times."""
    lines = [re.sub(r"\s+", " ", line).strip() for line in text.splitlines() if not re.search(r"time|sec|thread|speed|/s\b", line, re.I)]
    return [line for line in lines if line]


def run(side, example, program, arguments, result):
    """(seconds, what it gave), or None and an error."""
    folder = build / side / program
    command = [folder / program, *arguments.format(example=examples / example).split()]
    begin = time.monotonic()
    try:
        failed, text = done(*command, cwd=folder, timeout=runner.LIMIT, env={**os.environ, "LD_LIBRARY_PATH": str(built("tbb").parent)})
    except subprocess.TimeoutExpired:
        return None, f"not done after {runner.LIMIT} s"
    seconds = time.monotonic() - begin
    if failed:
        return None, f"ended with {failed}: {text[-200:]}"
    return seconds, (folder / result).read_bytes() if result else results(text) if result == "" else None


print(f"{'example':34}{'result':>10}{'heist, s':>10}{'oneTBB, s':>10}{'ratio':>7}")
bad = 0
for example, program, arguments, result in EXAMPLES:
    if wanted.only and program not in wanted.only.split(","):
        continue
    error = ""
    for side in SIDES:
        folder = build / side / program
        if error := error or cmake(examples / example, folder, f"-DCMAKE_PROJECT_INCLUDE={build}/{side}.cmake"):
            (build / f"{program}.log").write_text(error)
            error = "does not build: " + next((line for line in error.splitlines() if "error" in line), "")[-150:]
        elif program == "fgbzip2":
            (folder / "copy").write_bytes(20 * built("tbb").read_bytes())
    times, gave = {side: [] for side in SIDES}, {}
    for _ in range(wanted.rounds):
        for side in SIDES:
            if not error:
                seconds, given = run(side, example, program, arguments, result)
                if seconds is None:
                    error = f"{side}: {given}"
                else:
                    times[side].append(seconds)
                    gave[side] = given
    if error:
        bad += 1
        print(f"{program:34}{'-':>10}  {error}", flush=True)
        continue
    equal = "" if result is None else "equal" if gave[HEIST] == gave["onetbb"] else "DIFFERS"
    bad += equal == "DIFFERS"
    of = {side: statistics.median(t) for side, t in times.items()}
    print(f"{program:34}{equal:>10}{of[HEIST]:10.3f}{of['onetbb']:10.3f}{of[HEIST] / of['onetbb']:7.2f}", flush=True)
sys.exit(bad != 0)
