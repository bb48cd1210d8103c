#!/usr/bin/env python3
"""Runs stdexec's own tests on heist: run_stdexec.py [STDEXEC_CHECKOUT] [--only NAME,...] [--build FOLDER] [--jobs N].

The checkout is a clone of https://github.com/NVIDIA/stdexec, or what STDEXEC_DIR names. The tests that name a pool are compiled
as they are, with stdexec_pool/ in place of stdexec's pool, and with heist's layers of oneTBB's and Taskflow's names. Prints for
each file how many test cases pass. The test of the pool's own members, in NOT_OFFERED, is left out. --flags "-O1 -DSTDEXEC_NAMESPACE=std::execution" names stdexec's namespace."""
import re

import runner

POOL = re.compile(r"static_thread_pool|parallel_scheduler")
NOT_OFFERED = {"test_static_thread_pool"}  # five of nine cases call members of stdexec's pool that executors lack

wanted, checkout, tests, build = runner.arguments(__doc__, "STDEXEC_DIR", "test", "build/compat_stdexec")
here = runner.ROOT / "tests/compat/stdexec_pool"
heist = runner.ROOT / "include"
version_3 = not runner.compiled(wanted.cxx, ["-E", "-x", "c++", "-include", "catch2/catch_all.hpp", "/dev/null"])
libraries = [*runner.LIBRARIES, *(["-lCatch2Main", "-lCatch2"] if version_3 else [])]

# stdexec's build writes this header, for the Asio of Boost (1.76 or later) or the standalone one.
config = (checkout / "include/exec/asio/asio_config.hpp.in").read_text()
boost = not runner.compiled(wanted.cxx, ["-E", "-x", "c++", "-include", "boost/system/errc.hpp", *wanted.flags.split(), "/dev/null"])
for name, value in {"BOOST": boost, "STANDALONE": not boost}.items():
    config = config.replace(f"#cmakedefine01 STDEXEC_ASIO_USES_{name}", f"#define STDEXEC_ASIO_USES_{name} {int(value)}")
(build / "exec/asio").mkdir(parents=True, exist_ok=True)
(build / "exec/asio/asio_config.hpp").write_text(config)

# The tests of parallel_scheduler need the default backend beside heist's. The last two are of pools of other libraries.
MORE = {"test_parallel_scheduler": ["-DSTDEXEC_PARALLEL_SCHEDULER_HEADER_ONLY=1", "-include", "heist/parallel_backend.hpp"],
        "test_tbb_thread_pool": ["-D_GLIBCXX_USE_TBB_PAR_BACKEND=0", f"-I{heist}/heist/compat/tbb"],
        "test_taskflow_thread_pool": [f"-I{heist}/heist/compat/taskflow"]}
flags = ["-std=c++20", *wanted.flags.split(), "-foptimize-sibling-calls", "-w", "-DHEIST_SEPARATE_COMPILATION", f"-I{here}", f"-I{build}", f"-I{heist}",
         f"-I{checkout}/include", f"-I{checkout}/test", "-pthread"]
(build / "bodies.cpp").write_text("#include <heist/src.hpp>\n#define CATCH_CONFIG_MAIN\n#include <catch2/catch_all.hpp>\n")
runner.prepare(wanted.cxx, flags, build, [("bodies.o", ["-c", f"{build}/bodies.cpp"], False)])


def one(path):
    name = "_".join(path.relative_to(tests).with_suffix("").parts)
    return runner.run(wanted.cxx, [*flags, *MORE.get(path.stem, [])], path, build, name, libraries)


found = [p for folder in ("stdexec", "exec") for p in sorted((tests / folder).rglob("test_*.cpp"))
         if p.stem not in NOT_OFFERED and POOL.search(p.read_text())]
runner.report(found, wanted.only, wanted.jobs, one)
