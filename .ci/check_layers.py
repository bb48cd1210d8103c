#!/usr/bin/env python3
"""Folders are layers: a header includes only lower ones, never in a circle, and is short enough to read. Groups of folders
are layers, too: core/ includes no other group, and only distributed/, which simulates, includes tools/. Bodies (.ipp) are
included by headers of their own folder, at the end and in header-only mode, and by src.hpp."""
import re

from headers import code_of, finish, headers, within

MAX_LINES = 450
GROUPS = {  # group: groups that it may include, beside itself
    "core": [],
    "graph": ["core"],
    "parallel": ["core", "graph"],
    "locality": ["core", "graph"],
    "tools": ["core", "graph", "locality"],
    # Not in src.hpp: what it includes, MPI among it, is not there everywhere. Its bodies stand in its headers.
    # tools/ for the simulator, by which place::measured looks for a place.
    "distributed": ["core", "graph", "tools"],
    # Other libraries' names. What a program includes is all that they include, and nothing includes them.
    "compat": [],
}
# Folders of a group, from the lowest to the highest: each may include those before it. "a|b": neither includes the other.
ORDER = {
    "core": ["base", "topology|sync", "observe", "policy", "memory", "fiber", "extension", "scheduler", "executor", "fork"],
    "graph": [""],
    "parallel": ["async", "flow|pipeline", "coroutine", "primitives|algorithm", "execution"],
    "locality": ["counters", "policy", "region|history", "squads|replay", "automatic"],
    "tools": ["observe", "simulate", "measure"],
    "distributed": [""],
    "compat": ["taskflow/taskflow/core|taskflow/taskflow/algorithm|taskflow/taskflow/observer|taskflow/taskflow/utility|taskflow/taskflow|"
               "tbb/oneapi/tbb/detail|tbb/oneapi/tbb/flow|tbb/oneapi/tbb|tbb/oneapi|tbb/tbb"],
}
LAYERS = {group + ("/" + folder if folder else ""): (group, number)
          for group, rows in ORDER.items() for number, row in enumerate(rows) for folder in row.split("|")}
ONLY_IN = {"hwloc": ["core/topology/"], "boost/": ["core/fiber/", "distributed/wire.hpp"], "mpi.h": ["distributed/"],
           "starpu": ["distributed/"]}  # outside header: its only home

# Included before and after headers of oneTBB's own, each time again.
AROUND = {"compat/tbb/oneapi/tbb/detail/onetbb_begin.hpp", "compat/tbb/oneapi/tbb/detail/onetbb_end.hpp"}

# What a program of tasks includes is read by a compiler in each file of a user. What is dear in it, and what serves instead.
HEAVY = ["algorithm", "cmath", "condition_variable", "functional", "iostream", "istream", "map", "ostream", "ranges",
         "sstream", "unordered_map", "fmt/core.h", "fmt/format.h"]
DEAR = {"std::unique_ptr": "detail::unique_ptr", "std::make_unique": "detail::make_unique", "fmt::format": "format_text",
        "std::shared_ptr": "a count of users", "std::make_shared": "a count of users", "std::unordered_map": "number_map",
        "std::function": "unique_function"}
LIGHT = ["core", "graph"]
NOT_LIGHT = ["core/topology/xml.ipp", "core/topology/synthetic.ipp", "core/base/json.ipp",  # no program of tasks has them
             "graph/dot.ipp"]  # prints

# The core and graphs name nothing of locality, but where users write it, or where an extension takes part.
OF_LOCALITY = re.compile(r"\b(cab|cats|replay\w*|steal_tree\w*|regions?|region_\w+|footprint|inter_\w+|assign_continuation|"
                         r"task_affinity|placement_\w+|graph_memory|squad_\w*(?:search|extension|task|room)|profile\w*|tier_\w+|"
                         r"task_hints?|hint_\w+|follow_placement)\b")
MAY_NAME_LOCALITY = {
    "core/executor/context.hpp", "core/executor/executor.hpp", "core/base/errors.hpp",  # what users write
    "core/policy/policies.hpp", "core/policy/tier.hpp",  # a part of every policy
    "core/extension/", "core/fork/fork_extension.hpp", "core/fork/fork_traits.hpp",  # where an extension takes part in forks,
    "graph/recall.hpp", "graph/graph_data.hpp",                                      # and in graphs
    "core/observe/observer.hpp",  # what observers are told
    "graph/task.hpp", "graph/event.hpp", "graph/task_graph.hpp",  # what users write
}

bad, edges, bodies = [], {}, {}
for name, text in headers():
    folder = name.rpartition("/")[0]
    lines = text.splitlines()
    if folder and folder not in LAYERS:
        bad.append(f"{name}: '{folder}' is no layer; the tables in {__file__} name them")
        continue
    group, layer = LAYERS.get(folder, ("", 0))
    if len(lines) > MAX_LINES:
        bad.append(f"{name}: {len(lines)} lines, at most {MAX_LINES}; split it by idea")
    if "#pragma once" not in lines and not within(name, AROUND):
        bad.append(f"{name}: no #pragma once")
    if group in LIGHT and not within(name, MAY_NAME_LOCALITY):
        for number, line in enumerate(code_of(text).splitlines(), 1):
            for word in OF_LOCALITY.findall(line):
                bad.append(f"{name}:{number}: the core names '{word}', which is locality's; let locality/ do it, through an "
                           "interface of core/extension/")
    for number, line in enumerate(lines, 1):
        for dear in re.findall(r"\b(?:std|fmt)::\w+", re.sub(r'//.*|"(?:\\.|[^"\\])*"', "", line)):
            if dear in DEAR and (group in LIGHT or folder.startswith("parallel/")) and name not in NOT_LIGHT and not (
                    "shared" in dear and group == "parallel"):
                bad.append(f"{name}:{number}: {dear} is compiled anew in every file of a user; use {DEAR[dear]}")
        m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not m:
            continue
        quote, target = m[1], m[2]
        for outside, homes in ONLY_IN.items():
            if target.startswith(outside) and not within(name, homes):
                bad.append(f"{name}:{number}: <{target}> may be included only by {', '.join(homes)}")
        if target in HEAVY and group in LIGHT and name not in NOT_LIGHT:
            bad.append(f"{name}:{number}: <{target}> is 5 to 20 thousand lines in every file of a user; write out the little "
                       "that is needed")
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
        to = target.rpartition("/")[0]
        if target == "fwd.hpp":
            continue  # includes nothing, and has the default arguments
        if not folder or folder == to:
            continue
        to_group, to_layer = LAYERS.get(to, ("", 0))
        if group == "compat":
            if to and to_group != "compat":
                bad.append(f"{name}:{number}: compat/ includes what programs include, not {target}")
            continue
        if to_group != group and to_group not in GROUPS[group]:
            bad.append(f"{name}:{number}: {group}/ must not include {to_group or 'public headers'} ({target})")
        if to_group == group and to_layer >= layer:
            bad.append(f"{name}:{number}: {folder} must not include {to} ({target})")

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
    bad += [f"{b}: includes the bodies of another folder, {name}" for b in by if "/" in b and b.rpartition("/")[0] != folder]
finish(bad, f"layers ok: {len(edges)} headers with includes", edges)
