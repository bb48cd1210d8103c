#!/usr/bin/env python3
"""Runs oneTBB's own conformance tests on heist: run_tbb.py [ONETBB_CHECKOUT] [--only NAME,...] [--build FOLDER] [--jobs N].

The checkout is a clone of https://github.com/uxlfoundation/oneTBB, or what TBB_DIR names. Its tests are compiled as they are,
with include/heist/compat/tbb before oneTBB's headers, of which the containers remain. Links the library that is installed
(--tbb FILE: another one). Prints for each file how many test cases pass. NOT_OFFERED are the files of parts that the layer lacks."""
import runner

NOT_OFFERED = {"conformance_arena_constraints"}

wanted, checkout, tests, build = runner.arguments(__doc__, "TBB_DIR", "test/conformance", "build/compat_tbb",
                                                   lambda parser: parser.add_argument("--tbb", default="-ltbb"))
flags = ["-std=c++20", *wanted.flags.split(), "-w", "-DHEIST_SEPARATE_COMPILATION", f"-I{runner.ROOT}/include/heist/compat/tbb",
         f"-I{runner.ROOT}/include", f"-I{checkout}/test", f"-I{checkout}/include", f"-I{checkout}", "-pthread"]
internals = ["-include", f"{runner.ROOT}/tests/compat/tbb_internals.hpp"]  # those of containers include their own
(build / "bodies.cpp").write_text("#include <heist/src.hpp>\n")
runner.prepare(wanted.cxx, flags, build, [("bodies.o", ["-c", f"{build}/bodies.cpp"], False)])


def run(path):
    more = [] if "concurrent" in path.stem else internals
    return runner.run(wanted.cxx, flags + more, path, build, libraries=[*runner.LIBRARIES, wanted.tbb])


runner.report([p for p in sorted(tests.glob("conformance_*.cpp")) if p.stem not in NOT_OFFERED], wanted.only, wanted.jobs, run)
