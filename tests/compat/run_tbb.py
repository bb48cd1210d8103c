#!/usr/bin/env python3
"""Runs oneTBB's own conformance tests on heist: run_tbb.py [ONETBB_CHECKOUT] [--only NAME,...] [--build FOLDER] [--jobs N].

The checkout is a clone of https://github.com/uxlfoundation/oneTBB, or what TBB_DIR names. Its tests are compiled as they are,
with include/heist/compat/tbb in place of oneTBB's headers, and with tbb_internals/ in place of the internal headers that
they include. Prints for each file how many test cases pass. NOT_OFFERED are the files of parts that the layer lacks."""
import runner

NOT_OFFERED = {"conformance_concurrent_" + name for name in [
    "hash_map", "lru_cache", "map", "priority_queue", "queue", "set", "unordered_map", "unordered_set", "vector"]}
NOT_OFFERED.add("conformance_arena_constraints")

wanted, checkout, tests, build = runner.arguments(__doc__, "TBB_DIR", "test/conformance", "build/compat_tbb")
flags = ["-std=c++20", *wanted.flags.split(), "-w", "-DHEIST_SEPARATE_COMPILATION",
         f"-I{runner.ROOT}/include/heist/compat/tbb", f"-I{runner.ROOT}/tests/compat/tbb_internals", f"-I{runner.ROOT}/include",
         f"-I{checkout}/test", f"-I{checkout}", "-pthread"]
(build / "bodies.cpp").write_text("#include <heist/src.hpp>\n")
runner.prepare(wanted.cxx, flags, build, [("bodies.o", ["-c", f"{build}/bodies.cpp"], False)])
runner.report([p for p in sorted(tests.glob("conformance_*.cpp")) if p.stem not in NOT_OFFERED], wanted.only, wanted.jobs,
              lambda path: runner.run(wanted.cxx, flags, path, build))
