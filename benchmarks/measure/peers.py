#!/usr/bin/env python3
"""Measures heist beside the peers that are built, and writes a table, one page (compare.html) and one file of figures (compare.json)."""
import argparse
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import machine as machines  # noqa: E402
from compare import list_names  # noqa: E402
from compared import print_table  # noqa: E402
from figures import DIFFERENCE, count, differ, duration_text, number, time_text  # noqa: E402
from measure import Interrupted, Progress, commit, interrupt_by_signals, own_cpu_seconds, run_program, run_text, write_whole  # noqa: E402
from peers_page import page  # noqa: E402

SCHEMA, VERSION = "heist-compare", 1
HEIST = "heist"
PEERS = {"tbb": "oneTBB", "openmp": "OpenMP", "taskflow": "Taskflow"}
COLUMNS = [HEIST, "oneTBB", "std par", "OpenMP", "Taskflow"]  # in this order; others follow
LEAST_SECONDS = 120  # of measuring, after however long a build
CALL_SECONDS = 10    # that one call may take

# Programs with Google Benchmark: options, and (group, pattern, name, unit) of their rows.
GOOGLE = {
    "fork_join": ([], [("fork/join", r"(fib|skynet|nqueens|multisort|cholesky)/p(\d+)", "{0}", "run")]),
    "graph": (["--nodes=100000", "--tasks=200000"], [
        ("graphs", r"build/(\w+)", "build: {0}", "node"), ("graphs", r"first_run/(\w+)/p(\d+)", "first run: {0}", "node"),
        ("graphs", r"rerun/(\w+)/p(\d+)", "later runs: {0}", "node"), ("graphs", r"one_shot/(\w+)/p(\d+)", "one-shot: {0}", "node"),
        ("tasks", r"async_(future)/p(\d+)", "tasks with futures", "task"), ("tasks", r"async_(outside)/p(\d+)", "tasks from outside", "task"),
        ("tasks", r"async_(inside)/p(\d+)", "tasks from a task", "task")])}
SHAPES = {"dag": "random"}
# Programs that print a table of all peers: path, options, group, rows.
TABLES = [
    ("algorithms/bench_algorithms", [], "algorithms",
     ["for_each, cheap", "for_each, dear", "1000 short iterations", "reduce", "inclusive_scan", "sort, random"]),
    ("dynamic/bench_dynamic", [], "data flow",
     ["after: random", "after: fib", "flow: Cholesky", "flow: heat", "pipeline: 4 serial", "pipeline: 4 parallel"])]


class Call:
    """One process of a benchmark program; it gives a figure in nanoseconds to one column or to several."""

    def __init__(self, row, column, command, read):
        self.row, self.column, self.command, self.read, self.seconds = row, column, command, read, 0.0

    def run(self, limit):
        return self.read(self, self.command, limit)

    def __str__(self):
        return f"{self.row['row']}{', ' + self.column if self.column else ''}, {count(self.row['workers'], 'worker')}"


def read_google(call, command, limit):
    result = run_program(command[0], command[1:], limit)["benchmarks"][0]
    if result.get("error_occurred"):
        raise RuntimeError(result.get("error_message"))
    return {call.column: result["value"]}


def read_algorithms(call, command, limit):
    """A Markdown table of microseconds. Called from outside: columns with that word, and those that have no other kind."""
    lines = [[c.strip() for c in line.split("|")] for line in run_text(command[0], command[1:], limit).splitlines() if line.startswith("|")]
    found = {}
    for name, value in zip(lines[0], lines[-1]):
        column = name.removesuffix(", outside")
        if value and (column != name or name in ("OpenMP", "parlaylib", "citor")):
            found[column] = 1e3 * float(value)
    return found


def read_dynamic(call, command, limit):
    """A table of nanoseconds; the names of rows have 31 characters, and the last column of a row is a ratio."""
    _, heads, line = run_text(command[0], command[1:], limit).splitlines()[:3]
    return {name: float(value) for name, value in zip(heads.split(), line[31:].split()) if value != "-"}


def calls_of(programs, workers, only):
    """All calls, by row, and the numbers of workers. A program that is not there is a peer that is not there."""
    calls, rows, numbers = [], {}, set()
    for family, (options, wanted) in GOOGLE.items():
        options = [*options, f"--workers={workers}"]
        for library in ("heist", *PEERS):
            program = str(programs / f"bench_{family}_{library}")
            if not os.path.exists(program):
                continue
            for name, full in list_names(program, options).items():
                for group, pattern, text, unit in wanted:
                    match = re.fullmatch(pattern, name)
                    if match:
                        n = int(match.group(2)) if match.lastindex == 2 else 1
                        numbers.add(n)
                        row = rows.setdefault(name, {"group": group, "row": text.format(SHAPES.get(match.group(1), match.group(1))), "workers": n, "unit": unit})
                        calls.append(Call(row, PEERS.get(library, HEIST), [program, f"--benchmark_filter=^{re.escape(full)}$", "--benchmark_format=json", *options],
                                          read_google))
    for path, options, group, names in TABLES:
        program = str(programs / path)
        for name in names if os.path.exists(program) else []:
            for n in sorted(numbers):
                row = {"group": group, "row": name, "workers": n, "unit": "call" if group == "algorithms" else "token" if "pipeline" in name else "task"}
                calls.append(Call(row, "", [program, "--workers", str(n), "--rounds", "1", "--row", name, *options],
                                  read_algorithms if group == "algorithms" else read_dynamic))
    by_row = {}
    for call in calls:
        if only in f"{call.row['group']}, {call.row['row']}":
            by_row.setdefault(id(call.row), []).append(call)
    return [c for c in by_row.values() if c[0].column in ("", HEIST)], sorted(numbers)


def judge(row):
    """Adds heist's place beside its best peer: faster, slower or none, by DIFFERENCE."""
    ours = next(f for f in row["figures"] if f["variant"] == HEIST)
    peers = [f for f in row["figures"] if f is not ours]
    row.pop("best_peer", None)
    if peers:
        best = min(peers, key=lambda f: f["median"])
        row.update(best_peer=best["variant"], ratio=ours["median"] / best["median"],
                   difference="none" if not differ(ours, best) else "faster" if ours["median"] < best["median"] else "slower")


def summary_of(rows):
    """Sentences; the rows that fall short come first."""
    compared = [r for r in rows if "best_peer" in r]
    kinds = {kind: [r for r in compared if r["difference"] == kind] for kind in ("slower", "faster", "none")}
    found = []
    for r in sorted(kinds["slower"], key=lambda r: -r["ratio"]):
        figures = {f["variant"]: time_text(f["median"]) for f in r["figures"]}
        found.append(f"Falls short: {r['row']}, {count(r['workers'], 'worker')}: heist takes {figures[HEIST]} a {r['unit']}, "
                     f"{r['best_peer']} {figures[r['best_peer']]}; the ratio is {number(r['ratio'])}.")
    if compared:
        found.append(f"Beside the best peer heist is slower in {len(kinds['slower'])} of {count(len(compared), 'row')} and faster in {len(kinds['faster'])}; "
                     f"{len(kinds['none'])} show no difference beyond the spread.")
        few = min(len(f["samples"]) for r in compared for f in r["figures"])
        if few < 5:
            found.append(f"Some figures have only {count(few, 'round')}. Five are needed for conclusions.")
    for peer in dict.fromkeys(f["variant"] for r in compared for f in r["figures"] if f["variant"] != HEIST):
        pairs = [({f["variant"]: f for f in r["figures"]}[HEIST], f) for r in compared for f in r["figures"] if f["variant"] == peer]
        apart = [a["median"] < b["median"] for a, b in pairs if differ(a, b)]
        found.append(f"Beside {peer}: slower in {apart.count(False)} of {count(len(pairs), 'row')}, faster in {apart.count(True)}; "
                     f"the median ratio is {number(statistics.median(a['median'] / b['median'] for a, b in pairs))}.")
    return found


def text_of(path, pattern):
    """What a pattern finds in a file; None without it."""
    match = re.search(pattern, machines.read(path) or "")
    return match.group(1) if match else None


def built_with(build):
    """The compiler and the version of oneTBB, as CMake noted them."""
    found = next(iter(sorted(build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"))), None)
    compiler = f'{text_of(found, r"COMPILER_ID .([A-Za-z]+)")} {text_of(found, r"COMPILER_VERSION .([0-9.]+)")}' if found else "compiler not told"
    folder = text_of(build / "CMakeCache.txt", r"\nTBB_DIR:PATH=(.*)")
    tbb = folder and text_of(pathlib.Path(folder) / "TBBConfigVersion.cmake", r"PACKAGE_VERSION \"([\d.]+)")
    return {"compiler": compiler, "tbb": tbb}


class Comparison:
    def __init__(self, options):
        self.options, self.output, self.progress = options, pathlib.Path(options.output), Progress()
        self.began, self.shown, self.failed = time.monotonic(), 0.0, False
        self.limit = max(60 * options.minutes - options.spent, min(60 * options.minutes, LEAST_SECONDS))
        self.rows = []
        programs = pathlib.Path(options.programs).resolve()
        self.calls, self.workers = calls_of(programs, options.workers, options.row)
        if not self.calls:
            sys.exit(f"compare.sh: no row has '{options.row}' in its name" if options.row and self.workers else f"compare.sh: {programs} has no programs; run sh cmake/compare.sh")
        m = {**machines.describe({}, 0.1), **built_with(programs.parent), "commit": commit()}
        self.result = {"schema": SCHEMA, "version": VERSION, "machine": m, "rows": [], "left_out": [], "summary": [], "columns": [],
                       "run": {"rounds": options.rounds, "workers": self.workers, "arguments": sys.argv[1:], "date": time.strftime("%Y-%m-%d %H:%M"),
                               "seconds": 0.0, "others_cpus": 0.0, "ended": "not finished"}}
        print(f"{m['cpu']}, {count(len(os.sched_getaffinity(0)), 'CPU')}; {m['system']}, kernel {m['kernel']}; {m['compiler']}"
              f"{', oneTBB ' + m['tbb'] if m['tbb'] else ''}\nOther programs use {number(m['others_cpus'])} CPUs. "
              f"The measurement takes {duration_text(self.limit)} at most.\n", flush=True)

    def spent(self):
        return time.monotonic() - self.began

    def leave_out(self, call, why):
        """Without heist, or without its best peer, a row is not measured any further: a ratio to the second best misleads."""
        row = next(calls for calls in self.calls if call in calls)
        row.remove(call)
        peers = {c: s[0] for c, s in call.row.get("samples", {}).items() if c != HEIST}
        if call.column and (call.column == HEIST or len(row) < 2 or (peers and call.column == min(peers, key=peers.get))):
            row.clear()
        self.result["left_out"].append({"call": str(call) + (" (the whole row)" if call.column and not row else ""), "why": why})

    def fit(self, left_rounds):
        """Leaves out the calls that take longest until the rounds that are left fit into the time."""
        def kept():
            return [c for calls in self.calls for c in calls]
        while kept() and left_rounds * sum(c.seconds for c in kept()) > 0.95 * (self.limit - self.spent()):
            others = [c for calls in self.calls for c in calls if c.column != HEIST or len(calls) == 1]
            self.leave_out(max(others, key=lambda c: c.seconds), f"{count(self.options.rounds, 'round')} of it do not fit into the time")

    def show(self, round_, at, all_, call):
        now = time.monotonic()
        if not self.progress.terminal and now - self.shown < 20:
            return
        self.shown = now
        left = sum(c.seconds for calls in self.calls for c in calls) * (self.options.rounds - round_) if round_ else self.limit - self.spent()
        if round_:
            left -= sum(c.seconds for c in all_[:at])
        self.progress.show(f"[round {round_ + 1} of {self.options.rounds}, {at + 1} of {len(all_)}] {call}; "
                           f"{'about' if round_ else 'at most'} {duration_text(min(left, self.limit - self.spent()))} left")

    def measure(self):
        for round_ in range(self.options.rounds):
            if round_ == 1:
                self.fit(self.options.rounds - 1)
            all_ = [c for calls in self.calls if calls for c in calls[round_ % len(calls):] + calls[:round_ % len(calls)]]
            for at, call in enumerate(all_):
                if not any(call in calls for calls in self.calls):
                    continue  # its row has been left out
                left = self.limit - self.spent()
                if left < max(1, call.seconds):
                    self.result["run"]["ended"] = "ended by its time limit"
                    return
                self.show(round_, at, all_, call)
                begin = time.monotonic()
                try:
                    found = call.run(min(CALL_SECONDS, left))
                except subprocess.TimeoutExpired:
                    if left > CALL_SECONDS:
                        self.leave_out(call, f"one call takes more than {CALL_SECONDS} s")
                    continue
                except (RuntimeError, ValueError, LookupError) as error:
                    self.progress.clear()
                    print(f"{call} failed: {error}", file=sys.stderr)
                    self.failed = True
                    self.leave_out(call, f"it failed: {error}")
                    continue
                call.seconds = time.monotonic() - begin
                for column, value in found.items():
                    call.row.setdefault("samples", {}).setdefault(column, []).append(value)
                if found and call.row not in self.rows:
                    self.rows.append(call.row)
            self.write()
        self.result["run"]["ended"] = "finished"

    def write(self):
        """Both files. Figures that miss more rounds than the last, and rows without heist's, are not in them."""
        self.result["run"].update(seconds=round(self.spent(), 1))
        rows, most = [], max((len(s) for row in self.rows for s in row["samples"].values()), default=0)
        for row in self.rows:
            kept = {c: s for c, s in row["samples"].items() if len(s) >= most - 1}
            if HEIST not in kept:
                continue
            order = sorted(kept, key=lambda c: COLUMNS.index(c) if c in COLUMNS else len(COLUMNS))
            rows.append({**{k: row[k] for k in ("group", "row", "workers", "unit")},
                         "figures": [{"variant": c, "workers": row["workers"], "samples": kept[c], "median": statistics.median(kept[c]),
                                      "min": min(kept[c]), "max": max(kept[c])} for c in order]})
            judge(rows[-1])
        used = {f["variant"] for r in rows for f in r["figures"]}
        self.result.update(rows=rows, summary=summary_of(rows), columns=[c for c in COLUMNS if c in used] + sorted(used - set(COLUMNS)))
        write_whole(self.output, {"compare.json": json.dumps(self.result, indent=1) + "\n", "compare.html": page(self.result)})

    def print_result(self):
        lines = []
        for r in self.result["rows"]:
            figures = {f["variant"]: f for f in r["figures"]}
            cells = [f"{time_text(f['median'])} ({100 * (f['max'] - f['min']) / f['median']:.0f} %)" if f else "" for f in map(figures.get, self.result["columns"])]
            lines.append([f"{r['row']}, a {r['unit']}", r["workers"], *cells, number(r["ratio"]) if "best_peer" in r else "", r.get("difference", "")])
        print_table(["row", "workers", *self.result["columns"], "heist / best peer", "heist is"], lines)
        print("\nFigures are medians. In brackets: the greatest round minus the least, over the median. " + DIFFERENCE + "\n")
        for sentence in self.result["summary"]:
            print(f"- {sentence}")
        for x in self.result["left_out"]:
            print(f"- Left out: {x['call']}, because {x['why']}.")

    def run(self):
        status, before, own = 0, machines.CpuTimes(), own_cpu_seconds()
        try:
            self.measure()
            status = 1 if self.failed else 0
        except (Interrupted, KeyboardInterrupt):
            self.result["run"]["ended"], status = "interrupted", 130
        for s in (signal.SIGINT, signal.SIGTERM):  # nothing may cut the files short
            signal.signal(s, signal.SIG_IGN)
        self.progress.clear()
        self.result["left_out"] += [{"call": str(c), "why": "the measurement was " + self.result["run"]["ended"]} for calls in self.calls for c in calls if c.row not in self.rows]
        self.result["run"]["others_cpus"] = round(machines.CpuTimes().others_since(before, own_cpu_seconds() - own), 3)
        if not self.rows:
            sys.exit("compare.sh: ended before there was anything to keep")
        self.write()
        self.print_result()
        print(f"\n{count(len(self.result['rows']), 'row')} in {duration_text(self.spent())}; {self.result['run']['ended']}. "
              f"Other programs used {number(self.result['run']['others_cpus'])} CPUs meanwhile.\n{self.output / 'compare.html'}\n{self.output / 'compare.json'}")
        return status


def main():
    parser = argparse.ArgumentParser(prog="compare.sh", description="Builds heist's benchmarks beside oneTBB, std::execution::par, OpenMP and Taskflow, as far as they are "
                                     "installed, measures them in turns, and prints a table. Ctrl-C ends it and keeps what was measured.")
    parser.add_argument("--minutes", type=float, default=10, metavar="N", help="time limit, building included; after a long build measuring still takes 2 minutes (default: 10)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="rounds of each figure (default: 5, the least that conclusions need)")
    parser.add_argument("--workers", default="1,max", metavar="LIST", help="numbers of workers (default: 1,max)")
    parser.add_argument("--row", default="", metavar="TEXT", help="only rows with this in their group or name, such as graphs or sort")
    parser.add_argument("--output", default="measured", metavar="FOLDER", help="where compare.html and compare.json go (default: measured)")
    parser.add_argument("--programs", default=str(HERE.parents[1] / "build/compare/benchmarks"), help=argparse.SUPPRESS)
    parser.add_argument("--spent", type=float, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.minutes <= 0 or not 1 <= options.rounds <= 1000:
        parser.error("--minutes must be above 0, and --rounds from 1 to 1000")

    interrupt_by_signals()
    try:
        return Comparison(options).run()
    except subprocess.CalledProcessError as error:
        sys.exit(f"compare.sh: {error.cmd[0]} failed: {(error.stderr or '').strip()[-300:]}")
    except OSError as error:
        sys.exit(f"compare.sh: {error}")
    except Interrupted:
        sys.exit(130)


if __name__ == "__main__":
    sys.exit(main())
