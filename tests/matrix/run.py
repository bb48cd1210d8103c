#!/usr/bin/env python3
"""Builds state_across_switches.cpp in every way that compilers treat thread-local state differently, and runs it.

Two compilers, -O0 to -O3, link-time optimisation and position-independent code, on both kinds of flow. Reads in the
optimised objects that heist's thread-local variable is touched in its accessors only. That all of this notices is
shown by bugs seeded into copies of the headers, and by hazards.cpp, in which users' frames keep stale addresses.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys

WAYS = {"O0": "-O0", "O1": "-O1", "O2": "-O2", "O3": "-O3", "lto": "-O2 -flto", "pic": "-O2 -fPIC"}
ACCESSORS = {"heist::detail::this_worker()", "heist::detail::find_this_worker()",
             "heist::detail::set_this_worker(heist::detail::worker*)"}
VARIABLE = "heist::detail::place_of_this_thread"
LIMIT = 900  # seconds: a guard against hangs for programs that take one

# Bugs in copies of the headers: what is to be noticed, file, before, after. `seeded()` chooses one at run time.
SEEDS = [
    ("a switch does not exchange the exception state", "core/fiber/native_fiber_context.hpp",
     "    from.exceptions_ = exchange_exception_state(to.exceptions_);\n    to.exceptions_ = {};\n",
     "    if (seeded() != 1) {\n    from.exceptions_ = exchange_exception_state(to.exceptions_);\n"
     "    to.exceptions_ = {};\n    }\n"),
    ("a fiber that is left for good takes the exceptions of the next one", "core/fiber/native_fiber_context.hpp",
     "    exchange_exception_state(std::exchange(to.exceptions_, {}));\n",
     "    if (seeded() != 2) exchange_exception_state(std::exchange(to.exceptions_, {}));\n"),
    ("a switch does not keep the floating-point control words", "core/fiber/native_fiber_context.hpp",
     "    c.to->control_.install();\n", "    if (seeded() != 3) c.to->control_.install();\n"),
]
SEEDED = ("#include <cstdlib>\nnamespace heist::detail {\ninline int seeded() noexcept {\n"
          "  static int const number = std::atoi(std::getenv(\"HEIST_SEEDED\"));\n  return number;\n}\n}\n")
# In a build of its own, since it has to be inlined. Only read, not run: a compiler may get away with it.
NAIVE = ("the accessor of the worker is inlined", "core/fiber/current.hpp",
         "HEIST_NOINLINE inline worker* this_worker() noexcept {\n  asm volatile(\"\" ::: \"memory\");\n",
         "HEIST_ALWAYS_INLINE worker* this_worker() noexcept {\n")


class Build:
    """One program, compiled in one way."""

    def __init__(self, program, compiler, way, switch, overlay=None):
        self.program, self.compiler, self.way, self.switch, self.overlay = program, compiler, way, switch, overlay
        self.name = f"{pathlib.Path(compiler).name} {way} {switch}"
        self.object = self.executable = None

    def make(self, options):
        stem = re.sub(r"\W+", "_", f"{self.program} {self.compiler} {self.way} {self.switch} {self.overlay or ''}")
        self.object, self.executable = options.build / f"{stem}.o", options.build / stem
        flags = shlex.split(WAYS[self.way]) + shlex.split(options.flags)
        overlay = [f"-I{options.build / self.overlay}"] if self.overlay else []
        command = [self.compiler, "-std=c++20", "-Wall", "-Wextra", *flags, f"-DHEIST_SWITCH_{self.switch.upper()}",
                   *overlay, f"-I{options.source}/include", f"-I{options.source}/tests", "-c",
                   str(options.source / "tests/matrix" / f"{self.program}.cpp"), "-o", str(self.object)]
        link = [self.compiler, *flags, str(self.object), "-o", str(self.executable), *shlex.split(options.libraries)]
        for step in (command, link):
            done = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                first = "\n".join(done.stdout.splitlines()[:40])
                return f"does not compile: {shlex.join(step)}\n{first}"
        return None

    def run(self, seed=0):
        """Did it succeed, and what did it say?"""
        try:
            done = subprocess.run([self.executable], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=LIMIT, env={"HEIST_SEEDED": str(seed)})
            return done.returncode == 0, done.stdout
        except subprocess.TimeoutExpired as late:
            return False, f"{late.stdout or ''}\nhangs: not ready after {LIMIT} s"


def overlay(options, name, seeds, first):
    """Copies of the headers of `seeds` with their bugs; `first` comes before each."""
    texts = {}
    for what, file, before, after in seeds:
        texts.setdefault(file, (options.source / "include/heist" / file).read_text())
        if texts[file].count(before) != 1:
            sys.exit(f"run.py, '{what}': {file} does not contain this once:\n{before}fix it by giving it as it is now")
        texts[file] = texts[file].replace(before, after)
    for file, text in texts.items():
        copy = options.build / name / "heist" / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text.replace("#pragma once\n", "#pragma once\n" + first, 1))
    return name


def thread_local_uses(objdump, file):
    """By thread-local variable: the functions whose code takes its address."""
    text = subprocess.run([objdump, "-drC", str(file)], stdout=subprocess.PIPE, text=True, check=True).stdout
    uses, function = collections.defaultdict(set), ""
    for line in text.splitlines():
        if begin := re.match(r"^[0-9a-f]+ <(.*)>:$", line):
            function = begin[1]
        elif use := re.search(r"\sR_\w*?(?:TPOFF|TLS|DTPMOD)\w*\s+(.*?)(?:[+-]0x[0-9a-f]+)?$", line):
            uses[use[1]].add(function)
    return uses


def version(compiler):
    text = subprocess.run([compiler, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.search(r"\d+\.\d+\.\d+", text)[0]


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, default=here.parent.parent)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="a folder for objects and programs")
    parser.add_argument("--compilers", nargs="+", default=["g++", "clang++"])
    parser.add_argument("--flags", default="", help="for all compilations")
    parser.add_argument("--libraries", default="-lfmt -lhwloc -lboost_context -lpthread")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--short", action="store_true", help="five builds, not all")
    parser.add_argument("--objdump", default="objdump")
    parser.add_argument("--json", type=pathlib.Path, help="the figures, for other programs")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.build.mkdir(parents=True, exist_ok=True)

    compilers = []
    for compiler in options.compilers:
        if shutil.which(compiler):
            compilers.append(compiler)
        else:
            print(f"matrix   skipped: there is no compiler {compiler}")
    if not compilers:
        print("skipped: no compiler")
        return 0
    switches = ["native", "boost"] if platform.machine() in ("x86_64", "aarch64") else ["boost"]
    first, last, main_switch = compilers[0], compilers[-1], switches[0]
    program = "state_across_switches"
    if options.short:
        plan = {(c, way, s) for c in compilers for way, s in (("O0", switches[c == last and -1]), ("O3", main_switch))}
        plan.add((first, "lto", switches[-1]))
        hazards = [(first, "O2")]
    else:
        plan = {(c, way, s) for c in compilers for way in WAYS for s in switches}
        hazards = [(c, way) for c in compilers for way in WAYS]
    states = [Build(program, *p) for p in sorted(plan)]
    dangers = [Build("hazards", c, way, main_switch) for c, way in hazards]
    seeded, naive = [], []
    if main_switch == "native":
        seeded = [Build(program, first, "O0", "native", overlay(options, "seeded", SEEDS, SEEDED))]
        if not options.short:
            naive = [Build(program, first, "O2", "native", overlay(options, "naive", [NAIVE], ""))]

    def make(build):
        return build, build.make(options)

    broken, wrong = {}, []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for build, error in pool.map(make, states + dangers + seeded + naive):
            if error:
                broken[build] = error
                wrong.append(f"{build.program}, {build.name}: {error}")

    passed = 0
    for build in (b for b in states if b not in broken):
        good, text = build.run()
        passed += good
        if not good:
            wrong.append(f"{build.name}:\n{text}")

    stale = {"thread_local": [], "errno": []}
    for build in (b for b in dangers if b not in broken):
        good, text = build.run()
        if not good:
            wrong.append(f"hazards, {build.name}:\n{text}")
        for what, where in stale.items():
            if f"{what} stale" in text:
                where.append(f"{build.name.removesuffix(' ' + build.switch)}")
    if not any(stale.values()):
        wrong.append("hazards: no build was stale, so it is not known that a stale address would be noticed")

    bugs, noticed = 0, 0
    for build in (b for b in seeded if b not in broken):
        good, text = build.run(0)
        if not good:
            wrong.append(f"with no seeded bug:\n{text}")
    for build, number, what in [(b, i + 1, s[0]) for b in seeded if b not in broken for i, s in enumerate(SEEDS)]:
        bugs += 1
        good, text = build.run(number)
        noticed += not good
        if good:
            wrong.append(f"seeded, not noticed: {what}")

    read, astray = 0, []
    if not shutil.which(options.objdump):
        print(f"matrix   skipped: the objects are not read, because there is no {options.objdump}")
    else:
        for build in (b for b in states if b.way == "O3" and b not in broken):
            uses = thread_local_uses(options.objdump, build.object)
            read += 1
            if not uses[VARIABLE] & ACCESSORS:
                wrong.append(f"{build.name}: no accessor of {VARIABLE} was found in the object")
            astray += [f"{build.name}: {f}" for f in uses[VARIABLE] - ACCESSORS]
        for build in (b for b in naive if b not in broken):
            bugs += 1
            found = thread_local_uses(options.objdump, build.object)[VARIABLE] - ACCESSORS
            noticed += bool(found)
            if not found:
                wrong.append("seeded, not found in the object: " + NAIVE[0])
    wrong += [f"uses {VARIABLE} outside its accessors: {f}" for f in astray]

    for text in wrong:
        print(f"matrix   WRONG {text}")
    for what, where in stale.items():
        print(f"matrix   known hazard: {what} is stale in a user's frame that moves, with {', '.join(where) or 'none'}")
    names = ", ".join(f"{pathlib.Path(c).name} {version(c)}" for c in compilers)
    print(f"matrix   objects read {read}  uses outside accessors {len(astray)}  seeded {bugs}  noticed {noticed}")
    print(f"matrix   builds {len(states)}  passed {passed}  compilers {names}")
    if options.json:
        options.json.write_text(json.dumps({
            "builds": len(states), "passed": passed, "compilers": names, "objects_read": read,
            "uses_outside_accessors": len(astray), "seeded": bugs, "noticed": noticed, "stale": stale,
            "wrong": len(wrong)}) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
