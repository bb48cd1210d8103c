#!/usr/bin/env python3
"""No worker is kept across a user's code, which may wait and resume on another worker (core/scheduler/README.md, "A worker is not
kept"): a local worker in core/scheduler/ and the folders above says why it may be there, `kept: reason`, on its line or right above,
or is listed here (a header with its bodies); and pools of blocks, which belong to workers, are named in one file."""
import re

from headers import code_of, finish, headers, line_of, within

PLACES = ["core/scheduler/", "core/executor/", "core/extension/", "core/fork/", "graph/", "locality/squads/", "locality/replay/",
          "parallel/async/", "parallel/flow/", "parallel/pipeline/", "parallel/coroutine/"]
LOCAL = re.compile(r"\bworker(?:\s+const)?\s*[&*]\s*(?:const\s+)?(\w+)\s*(?:=|\{|:)")
POOL = re.compile(r"(?:->|\.)\s*blocks\s*\.")
# core.hpp: for threads outside, in one statement; resumption.hpp: bytes of frames, in one statement
POOL_PLACES = ["core/executor/pooled.hpp", "core/scheduler/core.hpp", "parallel/coroutine/resumption.hpp"]

# Functions that run no code of a user's, other than observers and policies, which may not wait.
KEPT = {
    "core/scheduler/worker_loop.hpp": "searching and sleeping: no task runs; after one, the worker is read anew",
    "core/scheduler/core.hpp": "submitting and counting: what is pushed runs later, or push() says where it has ended",
    "core/executor/helper.hpp": "the worker that a guest carries stays the same until it has left",
    "core/scheduler/between_tasks.hpp": "between two tasks; push() says where it has ended",
    "core/scheduler/core_start.ipp": "asked for the fiber, at once",
    "core/scheduler/suspend.ipp": "as parking",
    "core/scheduler/core_fibers.ipp": "parking and leaving: from reading the worker to the switch there is only our code",
    "locality/squads/squad_extension.hpp": "making squads when no task runs, and parking",
    "locality/squads/near_search.hpp": "searching: no task runs",
    "locality/squads/squad_search.hpp": "searching: no task runs",
    "locality/replay/mail_search.hpp": "searching: no task runs",
    "core/scheduler/fiber.hpp": "the member that is read anew",
    "core/scheduler/worker.hpp": "the worker itself",
    "core/executor/no_migrate.hpp": "asked for the fiber, at once",
    "core/scheduler/wait.hpp": "asked for the fiber, at once",
    "core/fork/child_first.hpp": "between two callables: starting a child, and giving its caller back",
    "locality/replay/followed.hpp": "starting a child; the worker is read anew when the frame goes on",
    "core/fork/remote.hpp": "asked for the fiber, at once",
    "core/fork/fork_join.hpp": "asked for the fiber, at once",
}

bad, checked, used = [], 0, set()
for name, text in headers():
    code, lines = code_of(text), text.splitlines()
    for m in POOL.finditer(code):
        checked += 1
        if not within(name, POOL_PLACES):
            bad.append(f"{name}:{line_of(code, m.start())}: a pool of blocks outside {POOL_PLACES[0]}; use make_pooled() "
                       "and destroy_pooled(), which name it when no code of a user's runs")
    if not within(name, PLACES):
        continue
    for m in LOCAL.finditer(code):
        checked += 1
        i = line_of(code, m.start()) - 1
        if any("kept: " in line.partition("//")[2] for line in lines[max(i - 1, 0):i + 1]):
            continue
        listed = name if name in KEPT else name.replace(".ipp", ".hpp")
        if listed in KEPT:
            used.add(listed)
        else:
            bad.append(f"{name}:{i + 1}: a worker is kept in `{m[1]}`: read it anew where it is used, or say why no code of "
                       "a user's runs meanwhile: `// kept: reason`")
bad += [f"check_workers.py: {name} is listed and keeps no worker" for name in sorted(set(KEPT) - used)]
finish(bad, f"workers ok: {checked} looked at", checked)
