#!/usr/bin/env python3
"""Measures this machine under heist, and writes one page (HTML) and one file of figures (JSON). Sends nothing anywhere."""
import argparse
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import compared  # noqa: E402
import machine as machines  # noqa: E402
from conclusions import conclude  # noqa: E402
from figures import count, duration_text  # noqa: E402
from html_page import page  # noqa: E402

SCHEMA, VERSION = "heist-measure", 1
FAMILIES = ("scaling", "policies", "idle", "forecast")
MODES = {"full": {"rounds": 7, "seconds": 16.0, "limit": 29 * 60}, "quick": {"rounds": 3, "seconds": 3.5, "limit": 290},
         "tiny": {"rounds": 1, "seconds": 0.0, "limit": 120}}
NOTHING_WAITS = ("Measures this machine under heist: speed-ups from one worker to all, policies, idle workers, the simulator's forecast. "
                 "Writes heist-measure.html and heist-measure.json. Ctrl-C ends it and keeps what was measured.")


class Interrupted(Exception):
    pass


def interrupt_by_signals():
    """From now on SIGINT and SIGTERM raise Interrupted."""
    def stop(number, frame):
        raise Interrupted

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)


class Progress:
    """One line on a terminal, which is rewritten; a line for each row elsewhere."""

    def __init__(self, out=sys.stderr):
        self.out, self.terminal = out, out.isatty()

    def show(self, text):
        print(f"\r\033[K{text}" if self.terminal else text, end="" if self.terminal else "\n", file=self.out, flush=True)

    def clear(self):
        if self.terminal:
            print("\r\033[K", end="", file=self.out, flush=True)


def run_text(program, arguments, limit):
    """Standard output of a call. The call is a session of its own: Ctrl-C reaches this script alone, which ends the call."""
    child = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, errors = child.communicate(timeout=limit)
    except BaseException:
        try:
            os.killpg(child.pid, signal.SIGKILL)  # and the processes that it has started
        except ProcessLookupError:
            pass
        child.wait()
        raise
    if child.returncode != 0:
        raise RuntimeError(errors.strip().splitlines()[-1] if errors.strip() else f"it ended with status {child.returncode}")
    return out


def run_program(program, arguments, limit):
    """The same, as JSON."""
    return json.loads(run_text(program, arguments, limit))


def write_whole(folder, texts):
    """Files, each replaced at once: whatever ends the script, they are whole."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        partial = folder / (name + ".new")
        partial.write_text(text, encoding="utf-8")
        partial.replace(folder / name)


def own_cpu_seconds():
    return sum(u.ru_utime + u.ru_stime for u in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)))


def commit():
    """The commit that the sources are at; None outside of a repository."""
    try:
        done = subprocess.run(["git", "-C", str(HERE), "describe", "--always", "--dirty"], capture_output=True, text=True, timeout=10, check=True)
        return done.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


class Measurement:
    def __init__(self, options):
        self.options, self.mode = options, MODES[options.mode]
        self.output = pathlib.Path(options.output)
        self.progress = Progress()
        self.began = time.monotonic()
        self.result = {"schema": SCHEMA, "version": VERSION,
                       "run": {"mode": options.mode, "rounds": options.rounds or self.mode["rounds"], "workers": [], "arguments": sys.argv[1:],
                               "date": time.strftime("%Y-%m-%d %H:%M"), "seconds": 0.0, "ended": "not finished"},
                       "machine": {}, "preconditions": [], "rows": [], "left_out": [], "conclusions": []}

    def spent(self):
        return time.monotonic() - self.began

    def prepare(self):
        """Describes the machine, prints the preconditions, and lists the rows."""
        of_program = run_program(self.options.program, ["machine"], 60)
        self.result["machine"] = machines.describe(of_program, 0.1 if self.options.mode == "tiny" else 1.0)
        self.result["machine"]["commit"] = commit()
        self.result["preconditions"] = machines.preconditions(self.result["machine"])
        self.result["run"]["workers"] = run_program(self.options.program, ["workers", self.options.workers], 60)
        rows = run_program(self.options.program, ["rows"], 60)
        return [r for r in rows if r["family"] in self.options.only and self.options.row in r["row"]]

    def print_preconditions(self):
        m = self.result["machine"]
        print(f"{m['cpu']}: {m['text']}\n{m['system']}, kernel {m['kernel']}; {m['compiler']}; heist {m['heist']}\n")
        unmet = [p for p in self.result["preconditions"] if p["met"] is False]
        for p in unmet:
            print(f"Not met: {p['name']}. {p['found']} {p['why']}\n    {p['fix']}")
        unknown = [p["name"] for p in self.result["preconditions"] if p["met"] is None]
        if unknown:
            print(f"Not told by the system: {', '.join(unknown)}.")
        print(f"{len(self.result['preconditions']) - len(unmet) - len(unknown)} of {count(len(self.result['preconditions']), 'precondition')} are met.\n", flush=True)

    def seconds_for(self, left):
        """Seconds for the next row, such that all rows that are left fit into the limit."""
        reserve = 0.85 * (self.mode["limit"] - self.spent())
        return max(0.1, min(self.mode["seconds"], reserve / max(1, left))) if self.mode["seconds"] else 0.0

    def arguments(self, row, seconds):
        workers = self.options.workers if row["family"] in ("scaling", "forecast") else self.options.policy_workers
        return [row["family"], "--row", row["row"], "--workers", workers, "--rounds", str(self.result["run"]["rounds"]),
                "--seconds", f"{seconds:.2f}"] + (["--tiny"] if self.options.mode == "tiny" else [])

    def measure(self, rows):
        taken = 1.15  # a row's time over the time that it was given
        for i, row in enumerate(rows):
            seconds, left = self.seconds_for(len(rows) - i), self.mode["limit"] - self.spent()
            if left < 5 or (self.mode["seconds"] and left < 0.5 * seconds):
                self.leave_out(rows[i:], "the time was up")
                self.result["run"]["ended"] = "ended by its time limit"
                return
            self.progress.show(f"[{i + 1} of {len(rows)}] {row['family']}, {row['row']}; "
                               f"about {duration_text((len(rows) - i) * max(seconds * taken, 0.3))} left")
            before, own, at = machines.CpuTimes(), own_cpu_seconds(), time.monotonic()
            try:
                done = run_program(self.options.program, self.arguments(row, seconds), max(10.0, left))[0]
            except subprocess.TimeoutExpired:
                self.leave_out([row], "it was still running when the time was up")
                continue
            except (RuntimeError, ValueError) as error:
                self.progress.clear()
                print(f"{row['family']}, {row['row']} failed: {error}", file=sys.stderr)
                self.leave_out([row], f"it failed: {error}")
                continue
            took = time.monotonic() - at
            if seconds > 0:
                taken += (took / seconds - taken) / (i + 1 if i < 8 else 8)
            done["seconds"] = round(took, 2)
            done["others_cpus"] = round(machines.CpuTimes().others_since(before, own_cpu_seconds() - own), 3)
            self.result["rows"].append(done)
            self.write()
        self.result["run"]["ended"] = "finished"

    def leave_out(self, rows, why):
        self.result["left_out"] += [{"family": r["family"], "row": r["row"], "why": why} for r in rows]

    def write(self):
        """Both files."""
        self.result["run"]["seconds"] = round(self.spent(), 1)
        self.result["conclusions"] = conclude(self.result["rows"], self.result["machine"])
        write_whole(self.output, {"heist-measure.json": json.dumps(self.result, indent=1) + "\n", "heist-measure.html": page(self.result)})

    def run(self):
        status, rows = 0, []
        try:
            rows = self.prepare()
            if not rows:
                sys.exit(f"measure.py: no row of {', '.join(self.options.only)} has '{self.options.row}' in its name; bench_measure rows lists them")
            self.print_preconditions()
            self.measure(rows)
            status = 0 if self.result["run"]["ended"] != "finished" or len(self.result["rows"]) == len(rows) else 1
        except (Interrupted, KeyboardInterrupt):
            self.result["run"]["ended"], status = "interrupted", 130
        for s in (signal.SIGINT, signal.SIGTERM):  # nothing may cut the files short
            signal.signal(s, signal.SIG_IGN)
        self.progress.clear()
        if not self.result["preconditions"]:
            sys.exit("measure.py: interrupted before there was anything to keep")
        named = {(r["family"], r["row"]) for r in self.result["rows"] + self.result["left_out"]}
        self.leave_out([r for r in rows if (r["family"], r["row"]) not in named], "the measurement was interrupted")
        self.write()
        for c in self.result["conclusions"]:
            print(f"- {c['text']}")
        print(f"\n{count(len(self.result['rows']), 'row')} measured in {duration_text(self.spent())}" +
              (f"; {self.result['run']['ended']}, {len(self.result['left_out'])} left out" if self.result["left_out"] else "") +
              f"\n{self.output / 'heist-measure.html'}\n{self.output / 'heist-measure.json'}")
        return status


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"measure.py: {path} cannot be read: {error}")
    if not isinstance(result, dict) or result.get("schema") != SCHEMA or result.get("version") != VERSION:
        sys.exit(f"measure.py: {path} is no result of this version; its \"schema\" must be \"{SCHEMA}\" and its \"version\" {VERSION}")
    return result


def parse_arguments(arguments):
    if arguments[:1] in (["compare"], ["page"]):
        parser = argparse.ArgumentParser(prog=f"measure.py {arguments[0]}")
        if arguments[0] == "compare":
            parser.add_argument("a", metavar="A.json")
            parser.add_argument("b", metavar="B.json")
        else:
            parser.add_argument("a", metavar="FILE.json", help="writes its page to standard output")
        options = parser.parse_args(arguments[1:])
        options.command = arguments[0]
        return options
    parser = argparse.ArgumentParser(prog="measure.sh", description=NOTHING_WAITS, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="measure.sh compare A.json B.json   prints what differs between two measurements\n"
                                            "measure.sh page FILE.json          writes the page of a measurement to standard output\n\n"
                                            "Takes about 10 minutes and 30 at most; with --quick about 3 and 5 at most; and once some minutes to build.")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="mode", action="store_const", const="quick", default="full", help="3 rounds and less time for each row")
    size.add_argument("--tiny", dest="mode", action="store_const", const="tiny", help="problems of milliseconds: to see that everything works")
    parser.add_argument("--workers", default="1,2,4..max", metavar="LIST", help="numbers of workers: a..b doubles from a to b, max is what this process may use (default: 1,2,4..max)")
    parser.add_argument("--policy-workers", default="max", metavar="LIST", help="the same, for policies and idle workers (default: max)")
    parser.add_argument("--only", default=",".join(FAMILIES), metavar="FAMILY,...", help=f"some of {', '.join(FAMILIES)}")
    parser.add_argument("--row", default="", metavar="TEXT", help="only rows with this in their names")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of each figure (default: 7, quick 3)")
    parser.add_argument("--output", default="measured", metavar="FOLDER", help="where the two files go (default: measured)")
    parser.add_argument("--program", default=str(HERE.parents[1] / "build/release/benchmarks/measure/bench_measure"), metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.command, options.only = "measure", [f for f in options.only.split(",") if f]
    for family in options.only:
        if family not in FAMILIES:
            parser.error(f"there is no family '{family}'; there are {', '.join(FAMILIES)}")
    if options.rounds is not None and not 1 <= options.rounds <= 1000:
        parser.error(f"--rounds is {options.rounds}; it must be from 1 to 1000")
    return options


def main():
    options = parse_arguments(sys.argv[1:])
    if options.command == "compare":
        compared.compare(load(options.a), load(options.b), options.a, options.b)
        return 0
    if options.command == "page":
        print(page(load(options.a)), end="")
        return 0

    interrupt_by_signals()
    try:
        return Measurement(options).run()
    except (OSError, RuntimeError) as error:
        sys.exit(f"measure.py: {error}")


if __name__ == "__main__":
    sys.exit(main())
