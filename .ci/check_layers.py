#!/usr/bin/env python3
"""Folders are floors: a header includes only lower ones, never in a circle, and is short enough to read. Bodies (.ipp) are
included by headers of their own folder, at the end and in header-only mode, and by src.hpp."""
import re

from headers import finish, headers, within

MAX_LINES = 450
MAY_INCLUDE = {  # floor: floors it may include (itself is always allowed)
    "base": [],
    "topology": ["base"],
    "sync": ["base"],
    "observe": ["base", "sync"],
    "memory": ["base", "topology", "sync"],
    "policy": ["base", "topology", "sync", "observe"],
    "fiber": ["base", "memory", "topology", "sync"],
    "room": ["base", "sync", "policy"],
    "sched": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room"],
    "executor": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room", "sched"],
    "sim": ["base", "topology", "observe", "policy"],  # beside: nothing of the core includes it
    "fork": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room", "sched", "executor"],
    "graph": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room", "sched", "executor"],
    "recall": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room", "sched", "executor", "graph"],
    "region": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room", "sched", "executor", "fork"],
    "tiers": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room", "sched", "executor", "fork", "region", "graph", "recall"],
    "replay": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room", "sched", "executor", "fork", "region", "graph", "recall"],
    "automatic": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room", "sched", "executor", "fork", "region", "graph", "recall", "tiers", "replay"],
    "algo": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room", "sched", "executor", "fork", "region"],
    "measure": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room", "sched", "executor", "sim", "fork", "region", "graph"],
    # Not in src.hpp: what it includes, MPI among it, is not there everywhere. Its bodies stand in its headers.
    "distributed": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room", "sched", "executor", "sim", "graph"],
    # Not in src.hpp: std::execution is not there everywhere. Its bodies stand in its headers.
    "senders": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room", "sched", "executor", "fork", "region", "algo"],
    "dynamic": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room", "sched", "executor"],
    # Not in heist.hpp: what few programs need has a door of its own (heist/sync.hpp).
    "primitives": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room", "sched", "executor", "graph", "dynamic", "coroutine"],
    "coroutine": ["base", "topology", "sync", "observe", "memory", "policy", "fiber", "room", "sched", "executor", "graph", "dynamic"],
}
ONLY_IN = {"hwloc": ["topology/"], "boost/": ["fiber/", "distributed/wire.hpp"], "mpi.h": ["distributed/"], "starpu": ["distributed/"]}  # outside header: its only home

HEAVY = ["algorithm", "functional", "iostream", "istream", "ostream", "ranges", "sstream", "unordered_map", "map"]
LIGHT = ["base", "topology", "sync", "memory", "policy", "fiber", "room", "sched", "executor", "fork", "graph", "region"]
NOT_IN_CORE = ["base/number_map.hpp",  # declarations that no door includes
               "policy/followed_tree.hpp"]  # of replay and the simulator

bad, edges, bodies = [], {}, {}
for name, text in headers():
    floor = name.split("/")[0] if "/" in name else "door"
    lines = text.splitlines()
    if floor != "door" and floor not in MAY_INCLUDE:
        bad.append(f"{name}: '{floor}' is no floor of the house; the table in {__file__} names them")
        continue
    if len(lines) > MAX_LINES:
        bad.append(f"{name}: {len(lines)} lines, at most {MAX_LINES}; split it by idea")
    if "#pragma once" not in lines:
        bad.append(f"{name}: no #pragma once")
    for number, line in enumerate(lines, 1):
        m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not m:
            continue
        quote, target = m[1], m[2]
        for outside, homes in ONLY_IN.items():
            if target.startswith(outside) and not within(name, homes):
                bad.append(f"{name}:{number}: <{target}> may be included only by {', '.join(homes)}")
        if target in HEAVY and floor in LIGHT and name.endswith(".hpp") and name not in NOT_IN_CORE:
            bad.append(f"{name}:{number}: <{target}> is 5 to 20 thousand lines in every file of a user; include it in the .ipp, "
                       "or write out the little that is needed")
        if not target.startswith("heist/"):
            if quote == '"':
                bad.append(f'{name}:{number}: "{target}" must be named from the top: "heist/..."')
            continue
        target = target.removeprefix("heist/")
        if target.endswith(".ipp"):
            bodies.setdefault(target, []).append(name)
            if name != "src.hpp" and (name.endswith(".ipp") or "#if HEIST_HEADER_ONLY" not in lines[:number] or
                                      "\n}" in "\n".join([""] + lines[number:])):
                bad.append(f"{name}:{number}: bodies are included by headers, last of all: after `#if HEIST_HEADER_ONLY`")
            continue
        edges.setdefault(name, set()).add(target)
        to = target.split("/")[0] if "/" in target else "door"
        if target == "fwd.hpp":
            continue  # includes nothing, and has the default arguments
        if floor != "door" and to != floor and to not in MAY_INCLUDE[floor]:
            bad.append(f"{name}:{number}: {floor} must not include {to} ({target})")

done = set()


def walk(node, trail):
    if node in trail:
        bad.append("cycle: " + " -> ".join(trail[trail.index(node):] + [node]))
    elif node not in done:
        for following in sorted(edges.get(node, ())):
            walk(following, trail + [node])
        done.add(node)


for start in sorted(edges):
    walk(start, [])
for name in (name for name, _ in headers() if name.endswith(".ipp")):
    by = bodies.get(name, [])
    if by.count("src.hpp") != 1:
        bad.append(f"{name}: src.hpp must include it once")
    if len(by) < 2:
        bad.append(f"{name}: no header includes it, so it has no bodies in header-only mode")
    folder = name.rpartition("/")[0]
    bad += [f"{b}: includes the bodies of another floor, {name}" for b in by if "/" in b and b.rpartition("/")[0] != folder]
finish(bad, f"layers ok: {len(edges)} headers with includes", edges)
