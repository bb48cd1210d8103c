#!/usr/bin/env python3
"""Runs the proof in a build tree and prints it as one page: what was tried, how much of it, and what was found.

Sections: model, mutants, spin, fuzz, readers, faults, unit, stress, soak, sanitizers, matrix, uts, distributed. Progress goes to
standard error, the page to standard output. Exit code 1 if anything on the page is red; a line that is red says so at
its end.
"""

import argparse
import concurrent.futures
import datetime
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


# What each part runs, as CMakeLists.txt names it: the others need no build.
TARGETS = {part: [f"proof_{part}"] for part in ("model", "fuzz", "readers", "faults", "unit", "stress", "uts",
                                                "distributed")}
TARGETS["soak"] = TARGETS["stress"]
# What MPI's libraries ask of root, of more ranks than cores, and of StarPU beside others.
MPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
                   "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "STARPU_WORKERS_NOBIND": "1",
                   "STARPU_MPI_NOBIND": "1", "STARPU_SILENT": "1"}
LONG_MODELS = ("graph_run", "idle", "opened_stack", "squads", "task_stack_sleep")
# Each of them is busy with one thing at a time, so they run beside each other, after the others.
TOGETHER = ("spin", "sanitizers")


def figures(line):
    """The pairs 'key number' of a summary line; keys may have several words."""
    pairs = re.findall(r"([A-Za-z][\w+'/-]*(?: [A-Za-z+][\w+'/-]*)*)[ =]+([-+]?\d[\d.,e+]*)", line)
    return {key: number for key, number in pairs}


def number(text):
    return float(text) if re.search(r"[.e]", text) else int(text.replace(",", "").lstrip("+"))


class Section:
    """What one part of the proof printed, and what is wrong with it."""

    def __init__(self, name):
        self.name, self.lines, self.red, self.skips = name, [], [], []

    def say(self, text):
        self.lines.append(f"{self.name:10} {text}" if not self.lines else f"{'':10} {text}")

    def must(self, true, what):
        if not true:
            self.red.append(what)


class Proof:
    def __init__(self, options):
        self.options = options

    def program(self, name):
        for found in self.options.build.rglob(name):
            if found.is_file() and os.access(found, os.X_OK):
                return found
        raise FileNotFoundError(f"{name} has not been built in {self.options.build}")

    def run(self, section, command, limit=1200, **environment):
        """Runs one command; its output. A skip that it prints is kept, a failure is red."""
        began = time.monotonic()
        name = pathlib.Path(str(command[1] if command[0] == sys.executable else command[0])).name
        try:
            done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", timeout=limit, env={**os.environ, **environment})
            out, code = done.stdout, done.returncode
        except subprocess.TimeoutExpired as late:
            out = late.stdout or ""
            out, code = out.decode(errors="replace") if isinstance(out, bytes) else out, "none: it did not end"
        print(f"  {time.monotonic() - began:7.1f} s  {name}", file=sys.stderr, flush=True)
        for line in out.splitlines():
            if re.match(r"\W*skipped[: ]", line.strip()) and line.strip() not in section.skips:
                section.skips.append(line.strip())
        if code != 0:
            section.red.append(f"{name}: exit code {code}")
            print(out[-4000:], file=sys.stderr, flush=True)
        return out

    # ---- the parts ----

    def model(self):
        s = Section("model")
        # The longest first, so that none is left alone at the end.
        names = sorted((p.stem for p in (HERE / "model").glob("*.cpp")), key=lambda n: (n not in LONG_MODELS, n))
        total = {}
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            bound = ["--at-most", 2] if self.options.short else []
            outs = list(pool.map(lambda n: self.run(s, [self.program(f"model_{n}"), *bound], limit=7200), names))
        for name, out in zip(names, outs):
            last = [l for l in out.splitlines() if re.match(r"model\s+\S+\s+harnesses", l)]
            s.must(last, f"{name} printed no totals")
            if last:
                for key, value in figures(last[-1][last[-1].index("harnesses"):]).items():
                    total[key] = total.get(key, 0) + number(value)
        for key in ("pruned", "violations"):
            s.must(total.get(key, 1) == 0, f"{key} is not 0")
        s.must(total.get("as they must") == total.get("harnesses"), "not every harness ended as it must")
        s.say(f"programs {len(names)}  " + "  ".join(f"{k} {int(v)}" for k, v in total.items()))
        return s

    def mutants(self):
        s = Section("mutants")
        folder = self.options.build / "tests/model/mutants"
        libraries = self.options.libraries or "-lboost_context -lfmt"
        out = self.run(s, [sys.executable, "-B", HERE / "model/run_mutants.py", "--source", HERE.parent, "--build", folder,
                           "--compiler", self.options.compiler, "--libraries", libraries, "--jobs", self.options.jobs])
        self.last_line(s, out, "mutants", zero=("survived",))
        return s

    def spin(self):
        s = Section("spin")
        out = self.run(s, [sys.executable, "-B", HERE / "model/spin/run_spin.py", "--build",
                           self.options.build / "tests/model/spin"])
        if not s.skips:
            known = self.last_line(s, out, "spin")
            s.must(known.get("bugs seeded") == known.get("killed"), "a seeded bug survived")
        return s

    def fuzz(self):
        s = Section("fuzz")
        budget = ["--cases", self.options.cases] if self.options.cases else [
            "--seconds", 10 if self.options.short else 60]
        out = self.run(s, [self.program("fuzz_differential"), *budget], limit=7200)
        self.last_line(s, out, "fuzz", zero=("lost", "doubled", "order", "values"), following=1)
        self.run(s, [self.program("fuzz_differential_shrinker")])
        return s

    def readers(self):
        s = Section("readers")
        out = self.run(s, [self.program("fuzz_readers")])
        self.last_line(s, out, "readers", zero=("crashes",))
        return s

    def faults(self):
        s = Section("faults")
        report = self.options.build / "tests/faults_report.txt"
        report.unlink(missing_ok=True)
        for source in sorted((HERE / "faults").glob("*_test.cpp")):
            name = "faults_" + re.sub(r"_test$", "", source.stem)
            self.run(s, [self.program(name)], HEIST_FAULTS_REPORT=str(report))
        out = self.run(s, [sys.executable, "-B", HERE / "faults/report.py", report])
        self.last_line(s, out, "faults", zero=("hangs", "leaks", "crashes"))
        return s

    def tests(self, name, *which, **environment):
        """Tests that ctest knows: all of a label."""
        s = Section(name)
        out = self.run(s, ["ctest", "--test-dir", self.options.build, "--output-on-failure", "--no-tests=error", "-j",
                           self.options.jobs, *which], limit=7200, **environment)
        done = re.search(r"(\d+) tests failed out of (\d+)", out)
        s.must(done, "no summary was printed")
        if done:
            s.must(done[1] == "0", f"{done[1]} tests failed")
            s.say(f"tests {done[2]}  failed {done[1]}")
        return s

    def unit(self):
        return self.tests("unit", "-L", "heavy|more")

    def stress(self):
        scale = os.environ.get("HEIST_TEST_SCALE") or ("0.1" if self.options.short else "1")
        return self.tests("stress", "-L", "stress", "-E", "fuzz|soak", HEIST_TEST_SCALE=scale)

    def soak(self):
        s = Section("soak")
        seconds = self.options.soak or (10 if self.options.short else 60)
        try:
            command = [self.program("stress_soak")]
        except FileNotFoundError:  # compiled in a batch
            command = [self.program("stress"), "--filenames-as-tags", "[#soak_test]"]
        out = self.run(s, command, limit=seconds + 600, HEIST_SOAK_SECONDS=str(seconds))
        self.last_line(s, out, "soak", zero=("submitted-executed-cancelled",))
        return s

    def sanitizers(self):
        s = Section("sanitizers")
        out = self.run(s, [sys.executable, "-B", HERE / "sanitizers/run.py", "--source", HERE.parent, "--build",
                           self.options.build / "tests/sanitizers/planted", "--compilers", self.options.compiler])
        known = self.last_line(s, out, "sanitizers")
        s.must(known.get("planted") == known.get("reported"), "a planted bug was not reported")
        s.must(known.get("twins") == known.get("silent"), "a clean twin was reported")
        return s

    def matrix(self):
        s = Section("matrix")
        out = self.run(s, [sys.executable, "-B", HERE / "matrix/run.py", "--source", HERE.parent, "--build",
                           self.options.build / "tests/matrix/builds", *([] if self.options.whole_matrix else ["--short"])])
        known = self.last_line(s, out, "matrix")
        s.must(known.get("builds") == known.get("passed"), "a build failed")
        return s

    def uts(self):
        s = Section("uts")
        found = []
        for tree, nodes in (("uts_t1", 4_130_071), ("uts_t3", 4_112_897), ("uts_t3l", 111_345_631)):
            out = self.run(s, [self.program("example_kernels"), "--kernel", tree, "--published", "--repeat", 1])
            right = re.search(rf"^{tree}\s.*\sright$", out, re.MULTILINE)  # the program knows the published number
            s.must(right, f"{tree} did not find {nodes} nodes")
            found.append(f"{tree[4:].upper()} {nodes if right else 'wrong'}")
        s.say("published trees counted  " + "  ".join(found))
        return s

    def distributed(self):
        """Each engine and MPI that CMake has found: random graphs on 1, 2 and 4 ranks and on 8, which is more than there
        are cores for, and each of three ranks killed at 20 moments."""
        s = Section("distributed")
        listed = self.options.build / "tests/distributed/programs.txt"
        if not listed.exists():
            s.skips.append("skipped: no component distributed (MPI, Boost.Serialization)")
            return s
        graphs, kills = (100, 2) if self.options.short else (1000, 20)
        for name, launcher, program in (line.split(";") for line in listed.read_text().splitlines()):
            played = wrong = 0
            for ranks, count in ((1, graphs), (2, graphs), (4, graphs), (8, graphs // 10)):
                out = self.run(s, [launcher, "-n", ranks, program, "random", count, 60], **MPI_ENVIRONMENT)
                known = re.findall(r"^rank \d+ of \d+: (\d+) graphs .* (\d+) wrong$", out, re.MULTILINE)
                s.must(len(known) == ranks, f"{name}: not every one of {ranks} ranks has said how it ended")
                played += count if known else 0
                wrong += sum(int(w) for _, w in known)
            s.must(wrong == 0, f"{name}: {wrong} wrong")
            seconds = 20 if self.options.short else 1800
            out = self.run(s, [launcher, "-n", 2, program, "sizes", seconds, 64], **MPI_ENVIRONMENT)
            sizes = re.findall(r"^rank \d+ of 2: values of .* in (\d+) graphs: 0 wrong$", out, re.MULTILINE)
            s.must(len(sizes) == 2, f"{name}: values of some size are wrong, or no end")
            out = self.run(s, ["sh", HERE / "distributed/kill.sh", launcher, program, 3, kills], **MPI_ENVIRONMENT)
            end = re.search(r"an end within (\d+) ms", out)
            s.must(end and int(end[1]) <= 10_000, f"{name}: no end within 10 s of a kill")
            s.say(f"{name}: random graphs {played}  wrong {wrong}  of any size {sizes[:1]}  kills {3 * kills}  longest end {end[1] if end else '?'} ms")
        return s

    @staticmethod
    def last_line(s, out, word, zero=(), following=0):
        """Takes the part's own last summary over, and checks that what must be zero is."""
        lines = out.splitlines()
        at = [i for i, l in enumerate(lines) if re.match(rf"{word}\s+\S+ [-\d]|{word}\s+\d", l)]
        if not at:
            s.red.append("no summary was printed")
            return {}
        text = [lines[i] for i in range(at[-1], min(len(lines), at[-1] + 1 + following))]
        known = figures("  ".join([text[0][len(word):], *text[1:]]))
        for key in zero:
            s.must(key in known and number(known[key]) == 0, f"{key} is not 0")
        for line in text:
            s.say(re.sub(rf"^{word}\s+", "", line).strip())
        return known


def machine():
    cpu = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    nodes = len(list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*")))
    lacks = []
    if nodes < 2:
        lacks.append("real NUMA")
    counters = pathlib.Path("/sys/bus/event_source/devices/cpu")
    if not counters.exists():
        lacks.append("hardware counters")
    lacks.append("a run on ARM" if platform.machine() != "aarch64" else "a run on x86-64")
    return f"{len(os.sched_getaffinity(0))} cores, {cpu}, kernel {platform.release()}; not shown: " + ", ".join(lacks)


def main():
    parts = ["model", "mutants", "spin", "fuzz", "readers", "faults", "unit", "stress", "soak", "sanitizers", "matrix",
             "uts", "distributed"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, help="a build tree with the programs in it")
    parser.add_argument("--targets", action="store_true", help="only print which targets the parts need")
    parser.add_argument("--only", help="some of the parts, separated by commas: " + ",".join(parts))
    parser.add_argument("--short", action="store_true", help="less of fuzz, stress and soak; model: at most 2 pre-emptions")
    parser.add_argument("--whole-matrix", action="store_true", help="24 builds instead of 5")
    parser.add_argument("--cases", type=int, help="so many of the differential fuzzer, in place of a time")
    parser.add_argument("--soak", type=int, help="seconds of the soak")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--compiler", default=os.environ.get("CXX") or "c++", help="for mutants and planted bugs")
    parser.add_argument("--libraries", help="how to link Boost.Context")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else parts
    unknown = [p for p in wanted if p not in parts]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; the parts are {', '.join(parts)}")

    if options.targets:
        print(*sorted({target for part in wanted for target in TARGETS.get(part, [])}) or ["proof_no_program"])
        return 0
    if not options.build:
        parser.error("--build is needed")
    proof = Proof(options)
    began = time.monotonic()

    def section(part):
        print(f"{part} ...", file=sys.stderr, flush=True)
        try:
            return getattr(proof, part)()
        except FileNotFoundError as missing:
            s = Section(part)
            s.red.append(str(missing))
            return s

    done = {part: section(part) for part in parts if part in wanted and part not in TOGETHER}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        together = [part for part in TOGETHER if part in wanted]
        done.update(zip(together, pool.map(section, together)))
    sections = [done[part] for part in parts if part in done]
    red = 0
    print(f"The proof of heist, {datetime.date.today()}, {(time.monotonic() - began) / 60:.1f} minutes\n")
    for s in sections:
        if s.skips and not s.lines:
            s.say("skipped")
        for line in s.lines or [f"{s.name:10} nothing was printed"]:
            print(line)
        for what in s.red:
            print(f"{'':10} RED: {what}")
            red += 1
    skips = [(s.name, skip) for s in sections for skip in s.skips]
    print(f"{'skips':10} {len(skips)}")
    for name, skip in skips:
        print(f"{'':10} {name}: {re.sub('^.*skipped[: ]+', '', skip)}")
    print(f"{'machine':10} {machine()}")
    compiler = subprocess.run([options.compiler, "--version"], stdout=subprocess.PIPE, text=True).stdout.splitlines()
    print(f"{'compiler':10} {compiler[0] if compiler else options.compiler}")
    print("nothing is red" if red == 0 else f"{red} lines are red")
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
