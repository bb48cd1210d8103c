#!/usr/bin/env python3
"""Stands in for bench_measure: the same calls, with figures that are made up. HEIST_STAND_IN_PAUSE: seconds that a row takes."""
import json
import os
import sys
import time

ROWS = [("scaling", "fork/join", "fib"), ("scaling", "memory", "triad"), ("policies", "memory-bound", "heat"), ("idle", "wake-up", "after 1 ms"),
        ("idle", "cost", "idle executor"), ("forecast", "fork/join", "queens")]
MACHINE = {"text": "1 package, 4 cores, 8 PUs", "pus": 8, "cores": 4, "numa_nodes": 2, "packages": 1, "l1d_bytes": 32768, "l2_bytes": 1 << 20,
           "l2_count": 4, "l3_bytes": 8 << 20, "l3_count": 2, "numa_distances": [], "allowed_cpus": list(range(8)), "usable_workers": 4,
           "quota_cpus": 3.5, "counters": {"cycles": "", "cache_misses": "Permission denied"}, "clock_ns": 25.0,
           "streams": {"private_line": 0.6, "shared_line": 1.0, "memory_line": 2.5, "transfer_line": 0.0, "far_line": 4.0,
                       "shared_bandwidth": 9e4, "memory_bandwidth": 4e4, "link_bandwidth": 2e4},
           "compiler": "gcc <13>",
           "build": "Release", "heist": "1.2.3",
           "hwloc": {"type": "Machine", "index": 0, "children": [
               {"type": "Package", "index": 0, "memory": [{"type": "NUMANode", "index": 0, "bytes": 1 << 30}], "children": [
                   {"type": "L3Cache", "index": l3, "bytes": 8 << 20, "children": [
                       {"type": "Core", "index": c, "children": [{"type": "PU", "index": 2 * c + t, "os_index": c + 4 * t} for t in (0, 1)]}
                       for c in (2 * l3, 2 * l3 + 1)]} for l3 in (0, 1)]}]}}


def figure(variant, workers, median, **more):
    return {"variant": variant, "workers": workers, "samples": [0.99 * median, median, 1.01 * median], "median": median, "min": 0.99 * median,
            "max": 1.01 * median, **more}


def figures(family, group, workers):
    many = workers[-1]
    if family == "scaling":
        bend = 2 if group == "memory" else 1e9
        return [figure("serial", 1, 9e6)] + [figure("heist", n, 1e7 / min(n, bend)) for n in workers] + (
            [figure("threads", n, 1e7 / min(n, bend)) for n in workers] if group == "memory" else [])
    if family == "policies":
        return [figure("serial", 1, 4e6)] + [figure(p, many, t) for p, t in (("random", 2e6), ("child-first", 2.01e6), ("cab", 1e6), ("cats", 1.5e6),
                                                                            ("replay", 3e6), ("automatic", 1e6))]
    if family == "idle":
        return [figure(p, many, t, **({"p99": 5 * t, "posts": 100} if group == "wake-up" else {}))
                for p, t in (("standard", 9e3), ("adaptive", 2e4), ("bws", 3e4), ("spinning", 1e3))]
    return [figure(p, n, 1e7 / n, simulated={"median": 0.9e7 / n, "min": 0.9e7 / n, "max": 0.9e7 / n}) for n in workers for p in ("random", "cab")]


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "machine":
        return MACHINE
    if command == "workers":
        return [1, 2, 4]
    named = [{"family": f, "group": g, "row": r, "what": "a <row> & more", "unit": "us/s" if g == "cost" else "ns"} for f, g, r in ROWS]
    if command == "rows":
        return named
    time.sleep(float(os.environ.get("HEIST_STAND_IN_PAUSE", "0")))
    row = next(r for r in named if r["family"] == command and r["row"] == arguments[arguments.index("--row") + 1])
    if os.environ.get("HEIST_STAND_IN_FAILS") == row["row"]:
        sys.exit("the result is wrong")
    row.update(figures=figures(row["family"], row["group"], [1, 2, 4]), size="a size")
    if row["group"] == "memory":
        row["bytes"] = 10 ** 8
    return [row]


print(json.dumps(main()))
