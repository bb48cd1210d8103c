#!/usr/bin/env python3
"""Protocols reach the outside world through the seam (core/base/env.hpp, core/base/park_word.hpp) only, so that the model in
tests/model/ runs the code that ships. What must touch the system directly is listed here, file by file."""
import re

from headers import atomic_members, code_of, finish, headers, line_of, within

SEAM = ["core/base/env.hpp", "core/base/park_word.hpp"]
# A thread for people who look at a hang, started only if the environment asks for it. It takes part in no protocol: it
# must speak also where heist's own ways to sleep and wake are what hangs.
WATCHDOG = "core/observe/watchdog.hpp"
# Other processes are not reached through the seam. What of it must be right for every interleaving is in graph/ (events).
DISTRIBUTED = "distributed/"
# Measures the machine's memory with plain threads, which take part in no protocol.
STREAMS = "tools/simulate/streams.hpp"
RULES = [  # what, pattern, where it may stand
    ("atomics come from Env", r"\bstd::atomic\w*", SEAM),
    ("atomics come from Env", r"\b__(?:atomic|sync)_\w+", []),
    ("fences come from Env", r"\batomic_(?:thread|signal)_fence\b|\basm\s+volatile\b",
     ["core/base/env.hpp", "core/fiber/"]),
    ("threads sleep on park_word only",
     r"\bstd::(?:\w*mutex|lock_guard|unique_lock|scoped_lock|shared_lock|condition_variable\w*|call_once|once_flag"
     r"|latch|barrier|counting_semaphore|binary_semaphore|future|shared_future|promise|packaged_task|async)\b"
     r"|\bpthread_(?:mutex|cond|rwlock|spin|barrier)_\w+", [WATCHDOG, DISTRIBUTED, STREAMS, "tools/observe/task_edges.hpp",
      "parallel/primitives/"]),  # for traces only; locks of the standard for mutexes of ours
    ("the futex is park_word's", r"\bSYS_futex\w*|\bFUTEX_\w+", ["core/base/park_word.hpp"]),
    ("system calls stand in the seam", r"\bsyscall\s*\(",
     SEAM + ["core/topology/", "locality/counters/perf_events.hpp", "tools/observe/page_nodes.hpp"]),
    ("the clock is the recorder's",
     r"\bstd::chrono\b|\bclock_gettime\b|\bgettimeofday\b|\b__rdtsc\b", ["core/base/env.hpp", "tools/observe/event_clock.hpp", "core/executor/future.hpp", "core/executor/timed_wait.hpp", "graph/run_state.hpp", "core/scheduler/timers.hpp", "parallel/primitives/", "locality/history/graph_memory.hpp", WATCHDOG, DISTRIBUTED, STREAMS]),
    ("a thread yields and sleeps through Env",
     r"\bstd::this_thread\b|\bsched_yield\b|::u?sleep\s*\(|\busleep\s*\(|\bnanosleep\b",
     ["core/base/env.hpp", DISTRIBUTED]),
    ("threads are started in one place", r"\bstd::j?thread\b|\bpthread_create\b", ["core/scheduler/", "core/executor/blocking.hpp", WATCHDOG, DISTRIBUTED, STREAMS]),
    ("randomness is seeded and our own", r"\bstd::(?:random_device|mt19937\w*|rand)\b|\bs?rand\s*\(", []),
    ("stacks and mappings are core/memory/'s", r"\b(?:mmap|munmap|mprotect|madvise)\s*\(",
     ["core/memory/", "core/base/large_memory.hpp", "locality/counters/perf_events.hpp"]),
    ("thread-local variables do not follow a fiber", r"\bthread_local\b", ["core/fiber/"]),
    ("files and the environment are read by the machine and written by observers",
     r"\bgetenv\b|\bstd::[io]?fstream\b|\bfopen\b", ["core/base/environment.hpp", "core/topology/", "locality/counters/perf_events.hpp", "tools/observe/", "tools/simulate/recorded_file.hpp", "distributed/saved_file.hpp", WATCHDOG]),
]

bad, checked = [], 0
for name, text in headers():
    if name.startswith("compat/"):  # written as programs are, in terms of std and of what heist offers to all
        continue
    code = code_of(text)
    checked += 1
    for why, pattern, places in RULES:
        if not within(name, places):
            bad += [f"{name}:{line_of(code, m.start())}: {m[0]}: {why}" for m in re.finditer(pattern, code)]
    for member in atomic_members(code):
        for m in re.finditer(rf"\b{member}\s*\.\s*(?:wait|notify_one|notify_all)\s*\(", code):
            bad.append(f"{name}:{line_of(code, m.start())}: {m[0]}...): atomic waits lose wakeups; use Env::park_word")
finish(bad, f"seam ok: {checked} headers", checked)
