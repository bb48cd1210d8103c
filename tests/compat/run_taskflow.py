#!/usr/bin/env python3
"""Runs Taskflow's own unit tests on heist: run_taskflow.py [TASKFLOW_CHECKOUT] [--only NAME,...] [--build FOLDER] [--jobs N].

The checkout is a clone of https://github.com/taskflow/taskflow, or what TASKFLOW_DIR names. Its tests are compiled as they
are, with include/heist/compat/taskflow in place of Taskflow's headers. Prints for each file how many test cases pass. The
files in INTERNALS test parts of Taskflow that no program includes: its queues, pools and notifiers."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INTERNALS = {"test_notifiers", "test_object_pool", "test_serializer", "test_spsc", "test_utility", "test_wsq"}
PRIORITIES = {"test_priorities", "test_graph_priorities"}  # they need Taskflow's macro
ALL = ["data_pipeline", "fill", "find", "for_each", "generate", "merge", "module", "pipeline", "reduce", "scan", "sort",
       "transform"]
LIMIT = 600  # seconds for the tests of a file

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("checkout", nargs="?", default=os.environ.get("TASKFLOW_DIR", ""))
parser.add_argument("--only", default="")
parser.add_argument("--build", default="build/compat_taskflow")
parser.add_argument("--jobs", type=int, default=1)
parser.add_argument("--flags", default="-O1", help="of the compiler")
parser.add_argument("--cxx", default=os.environ.get("CXX", "g++"))
wanted = parser.parse_args()
tests = pathlib.Path(wanted.checkout or "-") / "unittests"
if not tests.is_dir():
    print("skipped: no checkout of Taskflow; name one as the argument or in TASKFLOW_DIR")
    sys.exit(0)

build = pathlib.Path(wanted.build)
build.mkdir(parents=True, exist_ok=True)
checkout = pathlib.Path(wanted.checkout)
flags = ["-std=c++20", *wanted.flags.split(), "-w", "-DHEIST_SEPARATE_COMPILATION", f"-I{ROOT}/include/heist/compat/taskflow",
         f"-I{ROOT}/include", f"-I{checkout}/3rd-party/doctest", "-pthread"]
libraries = ["-lboost_context", "-lfmt", "-lhwloc", "-ldl", "-pthread"]


def compiled(arguments):
    done = subprocess.run([wanted.cxx, *arguments], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr


def is_new(made, layer):
    """Is a file newer than the headers, those of the layer included?"""
    newest = max(p.stat().st_mtime for p in (ROOT / "include").rglob("*.[hi]pp") if layer or "compat" not in p.parts)
    return made.exists() and made.stat().st_mtime > newest


def prepare():
    """Compiles what all files share: heist's bodies, and the headers."""
    (build / "bodies.cpp").write_text("#include <heist/src.hpp>\n")
    (build / "all.hpp").write_text("".join(f"#include <taskflow/algorithm/{name}.hpp>\n" for name in ALL))
    for made, arguments in (("bodies.o", ["-c", f"{build}/bodies.cpp"]), ("all.hpp.gch", ["-x", "c++-header", f"{build}/all.hpp"])):
        if is_new(build / made, made != "bodies.o"):
            continue
        arguments += ["-o", f"{build}/{made}"]
        if error := compiled([*flags, *arguments]):
            sys.exit(error)


def run(path):
    """(name, cases, failed, remark)"""
    name = path.stem
    program = build / name
    more = ["-DTF_ENABLE_TASK_PRIORITY"] if name in PRIORITIES else ["-include", f"{build}/all.hpp"]
    if error := compiled([*flags, *more, str(path), f"{build}/bodies.o", "-o", str(program), *libraries]):
        (build / f"{name}.log").write_text(error)
        first = next((line for line in error.splitlines() if "error" in line), "")
        return name, len(re.findall(r"^TEST_CASE", path.read_text(), re.M)), None, "does not compile: " + first[-150:]
    try:
        done = subprocess.run([program], capture_output=True, text=True, timeout=LIMIT, errors="replace")
    except subprocess.TimeoutExpired:
        return name, len(re.findall(r"^TEST_CASE", path.read_text(), re.M)), None, f"not done after {LIMIT} s"
    (build / f"{name}.log").write_text(done.stdout + done.stderr)
    found = re.search(r"test cases:\s*(\d+) \|\s*(\d+) passed \|\s*(\d+) failed", done.stdout)
    if not found:
        return name, len(re.findall(r"^TEST_CASE", path.read_text(), re.M)), None, f"ended with {done.returncode}"
    return name, int(found[1]), int(found[3]), ""


prepare()
chosen = [p for p in sorted(tests.glob("test_*.cpp")) if p.stem not in INTERNALS]
if wanted.only:
    chosen = [p for p in chosen if p.stem in wanted.only.split(",")]
print(f"{'file':34}{'cases':>7}{'failed':>8}")
cases = failures = 0
with concurrent.futures.ThreadPoolExecutor(wanted.jobs) as pool:
    for name, n, failed, remark in pool.map(run, chosen):
        cases += n
        failures += n if failed is None else failed
        print(f"{name:34}{n:7}{'all' if failed is None else failed:>8}  {remark}", flush=True)
print(f"{'together':34}{cases:7}{failures:8}")
sys.exit(failures != 0)
