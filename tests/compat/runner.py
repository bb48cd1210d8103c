"""What the run_*.py of this folder share: another library's tests, or a program, built on heist."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 600  # seconds for the tests of a file
LIBRARIES = ["-lboost_context", "-lfmt", "-lhwloc", "-ldl", "-pthread"]


def arguments(text, variable, folder, build, more=lambda parser: None):
    """The command line, the checkout, and the folder in it that has the tests; ends the program if there is none.
    `more` adds options."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("checkout", nargs="?", default=os.environ.get(variable, ""))
    parser.add_argument("--only", default="")
    parser.add_argument("--build", default=build)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--flags", default="-O1", help="of the compiler")
    parser.add_argument("--cxx", default=os.environ.get("CXX", "g++"))
    more(parser)
    wanted = parser.parse_args()
    tests = pathlib.Path(wanted.checkout or "-") / folder
    if not tests.is_dir():
        print(f"skipped: no checkout; name one as the argument or in {variable}")
        sys.exit(0)
    build = pathlib.Path(wanted.build)
    build.mkdir(parents=True, exist_ok=True)
    return wanted, pathlib.Path(wanted.checkout), tests, build


def compiled(cxx, flags):
    """What the compiler says if it fails."""
    done = subprocess.run([cxx, *flags], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr


def is_new(made, layer):
    """Is a file newer than the headers, those of the layer included?"""
    newest = max(p.stat().st_mtime for p in (ROOT / "include").rglob("*.[hi]*") if layer or "compat" not in p.parts)
    return made.exists() and made.stat().st_mtime > newest


def prepare(cxx, flags, build, files):
    """Compiles what all tests share: [(file to make, flags, whether it has parts of the layer)]."""
    for made, more, layer in files:
        if is_new(build / made, layer):
            continue
        if error := compiled(cxx, [*flags, *more, "-o", f"{build}/{made}"]):
            sys.exit(error)


def run(cxx, flags, path, build, name="", libraries=LIBRARIES):
    """(name, cases, failed, remark)"""
    name = name or path.stem
    program = build / name
    written = len(re.findall(r"^[ \t]*TEST_CASE", path.read_text(), re.M))
    if error := compiled(cxx, [*flags, str(path), f"{build}/bodies.o", "-o", str(program), *libraries]):
        (build / f"{name}.log").write_text(error)
        first = next((line for line in error.splitlines() if "error" in line), "")
        return name, written, None, "does not compile: " + first[-150:]
    try:
        done = subprocess.run([program], capture_output=True, text=True, timeout=LIMIT, errors="replace")
    except subprocess.TimeoutExpired:
        return name, written, None, f"not done after {LIMIT} s"
    (build / f"{name}.log").write_text(done.stdout + done.stderr)
    # doctest's summary, or one of Catch2's three.
    found = re.search(r"test cases:\s*(\d+) \|(.*)|^All tests passed \(.* in (\d+) test cases?\)", done.stdout, re.M)
    failed = found and found[2] and re.search(r"(\d+) failed(?! as expected)", found[2])
    failures = int(failed[1]) if failed else 0
    if not found or (done.returncode != 0 and failures == 0):
        return name, written, None, f"ended with {done.returncode}"
    return name, int(found[1] or found[3]), failures, ""


def report(paths, only, jobs, one):
    """Runs `one` for each file and prints a table; the program's exit status says whether a case failed."""
    chosen = [p for p in paths if not only or p.stem in only.split(",")]
    print(f"{'file':42}{'cases':>7}{'failed':>8}")
    cases = failures = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, n, failed, remark in pool.map(one, chosen):
            cases += n
            failures += n if failed is None else failed
            print(f"{name:42}{n:7}{'all' if failed is None else failed:>8}  {remark}", flush=True)
    print(f"{'together':42}{cases:7}{failures:8}")
    sys.exit(failures != 0)
