#!/usr/bin/env python3
"""Runs Taskflow's own unit tests on heist: run_taskflow.py [TASKFLOW_CHECKOUT] [--only NAME,...] [--build FOLDER] [--jobs N].

The checkout is a clone of https://github.com/taskflow/taskflow, or what TASKFLOW_DIR names. Its tests are compiled as they
are, with include/heist/compat/taskflow in place of Taskflow's headers. Prints for each file how many test cases pass. The
files in INTERNALS test parts of Taskflow that no program includes: its queues, pools and notifiers."""
import runner

INTERNALS = {"test_notifiers", "test_object_pool", "test_serializer", "test_spsc", "test_utility", "test_wsq"}
PRIORITIES = {"test_priorities", "test_graph_priorities"}  # they need Taskflow's macro
ALL = ["data_pipeline", "fill", "find", "for_each", "generate", "merge", "module", "pipeline", "reduce", "scan", "sort",
       "transform"]

wanted, checkout, tests, build = runner.arguments(__doc__, "TASKFLOW_DIR", "unittests", "build/compat_taskflow")
flags = ["-std=c++20", *wanted.flags.split(), "-w", "-DHEIST_SEPARATE_COMPILATION",
         f"-I{runner.ROOT}/include/heist/compat/taskflow", f"-I{runner.ROOT}/include", f"-I{checkout}/3rd-party/doctest",
         "-pthread"]
(build / "bodies.cpp").write_text("#include <heist/src.hpp>\n")
(build / "all.hpp").write_text("".join(f"#include <taskflow/algorithm/{name}.hpp>\n" for name in ALL))
runner.prepare(wanted.cxx, flags, build, [("bodies.o", ["-c", f"{build}/bodies.cpp"], False),
                                          ("all.hpp.gch", ["-x", "c++-header", f"{build}/all.hpp"], True)])


def one(path):
    more = ["-DTF_ENABLE_TASK_PRIORITY"] if path.stem in PRIORITIES else ["-include", f"{build}/all.hpp"]
    return runner.run(wanted.cxx, [*flags, *more], path, build)


runner.report([p for p in sorted(tests.glob("test_*.cpp")) if p.stem not in INTERNALS], wanted.only, wanted.jobs, one)
