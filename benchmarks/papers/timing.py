#!/usr/bin/env python3
"""Table I and Fig. 4 of the adaptive paper with the example of circuit timing: run time and CPUs of each idle policy.

timing.py EXAMPLE_TIMING NETLIST.v... [--workers LIST] [--changes K,...] [--rounds N]

EXAMPLE_TIMING is the program; the netlists are yours (the paper's are c6288, tv80 and others of the TAU 2015 contest; the
repository has none). For each netlist and policy the whole process is measured: it reads, times the circuit ten times on one
thread and ten times as a graph, changes K gates one at a time and re-times what they touch. K is one number, or one for each
netlist. The policies take turns; the medians of the rounds count."""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

POLICIES = {"spinning": "spinning (ABP)", "balanced": "balanced (MBWS)", "adaptive": "adaptive (theirs)",
            "default": "standard (ours)"}


def worker_list(text):
    """Numbers of workers as all benchmark programs take them: 1,2,4..max."""
    most, found = len(os.sched_getaffinity(0)), set()
    for part in text.split(","):
        first, dots, last = part.partition("..")
        numbers = [most if n == "max" else int(n) for n in ([first, last] if dots else [first])]
        if min(numbers) < 1 or (numbers[0] > numbers[-1] and last != "max"):
            raise ValueError
        while numbers[0] < numbers[-1]:
            found.add(numbers[0])
            numbers[0] *= 2
        found.add(numbers[-1])
    return sorted(found)


def run(program, netlist, idle, workers, changes):
    """Milliseconds as a graph, CPU milliseconds and milliseconds of the process; gates and nets of the circuit."""
    call = [program, netlist, "--idle", idle, "--workers", str(workers), "--changes", str(changes)]
    before, began = os.times(), time.perf_counter()
    done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    took, after = time.perf_counter() - began, os.times()
    graph = re.search(r"^time +([\d.]+) ms as a graph", done.stdout, re.M)
    size = re.search(r"^circuit.*: (\d+) gates.*; (\d+) nets", done.stdout, re.M)
    if done.returncode != 0 or graph is None or size is None:
        sys.exit(f"timing.py: {' '.join(call)} has failed; run it by hand to see why")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return (float(graph[1]), 1e3 * cpu, 1e3 * took), (int(size[1]), int(size[2]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", metavar="EXAMPLE_TIMING")
    parser.add_argument("netlists", metavar="NETLIST.v", nargs="+")
    parser.add_argument("--workers", type=worker_list, default=worker_list("max"), metavar="LIST")
    parser.add_argument("--changes", type=lambda text: [int(k) for k in text.split(",")], default=[1000], metavar="K,...")
    parser.add_argument("--rounds", type=int, default=5)
    wanted = parser.parse_args()
    if len(wanted.changes) not in (1, len(wanted.netlists)):
        parser.error("--changes takes one number, or one for each netlist")
    wanted.changes *= len(wanted.netlists) // len(wanted.changes)
    for workers in wanted.workers:
        print_table(wanted, workers)


def print_table(wanted, workers):
    print(f"{workers} workers, load {os.getloadavg()[0]:.2f}; medians of {wanted.rounds} rounds\n")
    rows = [["circuit", "idle policy", "gates", "nets", "changes", "ms as a graph", "CPUs of the process", "CPU ms", "ms of the process"]]
    for netlist, changes in zip(wanted.netlists, wanted.changes):
        found = {idle: [] for idle in POLICIES}
        for _ in range(wanted.rounds):
            for idle in POLICIES:
                figures, size = run(wanted.program, netlist, idle, workers, changes)
                found[idle].append(figures)
        for idle, name in POLICIES.items():
            graph, cpu, took = (statistics.median(values) for values in zip(*found[idle]))
            ratio = statistics.median(c / t for _, c, t in found[idle])
            rows.append([pathlib.Path(netlist).stem, name, *map(str, size), str(changes), f"{graph:.3f}", f"{ratio:.2f}", f"{cpu:.0f}", f"{took:.0f}"])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print("| " + " | ".join(c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))) + " |")
        if number == 0:
            print("|" + "|".join("-" * (w + 2) if i < 2 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|")


if __name__ == "__main__":
    main()
