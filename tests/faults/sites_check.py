#!/usr/bin/env python3
"""Every place where a header of heist asks the system for something is in tests/faults/fault_sites.hpp: as a site, which
some program refuses, or as a call that cannot be refused. A new place that the lists do not know fails this check, and
so does a listed one that is gone."""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / "include" / "heist"

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'(?![0-9A-Fa-f])', re.S)

# The house calls the system with a leading ::, which placement new has, too; and these by whatever name.
ASKS = re.compile(r"""
    (?<![\w>:]) :: \s* (?: operator \s+ (?:new|delete) | (?!new\b) \w+ ) \s* \(
  | \b (?: syscall | mmap | mremap | munmap | mprotect | madvise | mlock\w* | sysconf | getrlimit | setrlimit
         | sigaction | sigaltstack | sigprocmask | pthread_\w+ | clock_\w+ | nanosleep | usleep | timer_\w+
         | timerfd_\w+ | eventfd\w* | epoll_\w+ | sched_\w+ | getcpu | prctl | ioctl | fcntl | getpid | gettid
         | dlopen | dlsym | getenv | secure_getenv | setenv | hwloc_(?!handle\b)\w+
         | f(?:open|dopen|read|write|close|error|printf|puts|gets|seek|scanf) | perror | tmpfile
         | abort | quick_exit | atexit | malloc | calloc | realloc | aligned_alloc | posix_memalign
         | CPU_(?:ALLOC|FREE) ) \s* \(
  | \b std::(?: [io]?fstream | filebuf | j?thread\b(?!::id) | (?:recursive_|shared_|timed_)*mutex
         | condition_variable\w* | random_device | nothrow\w* | filesystem | async | get_temporary_buffer
         | chrono::\w*clock )\b
  | \b operator \s+ new \s* \(
""", re.X)


def code_of(text):
    """The text with comments and literals blanked; places keep their numbers."""
    return NOT_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def listed():
    """The lists of fault_sites.hpp: (site or None, file, code as it begins)."""
    text = (HERE / "fault_sites.hpp").read_text(encoding="utf-8")
    rows = re.findall(r'^    \{"([^"]*)", "([^"]*)", "([^"]*)"\},$', text, re.M)
    split = text.index("unfailing_places[]")
    first = len(re.findall(r'^    \{"([^"]*)", "([^"]*)", "([^"]*)"\},$', text[:split], re.M))
    return [(s, f, c) for s, f, c in rows[:first]] + [(None, f, c) for f, c, _ in rows[first:]]


def sites():
    """Their names, in order, each once."""
    return list(dict.fromkeys(s for s, _, _ in listed() if s is not None))


def check():
    rows, bad, places = listed(), [], 0
    open_rows = [[site, file, re.sub(r"\s+", "", code)] for site, file, code in rows if file]
    for path in sorted(INCLUDE.rglob("*.[hi]pp")):
        if "compat" in path.parts:
            continue  # a layer allocates as a user's program does
        name = path.relative_to(INCLUDE).as_posix()
        if name.startswith("distributed/"):
            continue  # what it asks of others is lost, late and killed in tests of its own (tests/distributed)
        code = code_of(path.read_text(encoding="utf-8"))
        end = 0
        for m in ASKS.finditer(code):
            if m.start() < end:
                continue  # a part of the last one
            end = m.end()
            places += 1
            here = re.sub(r"\s+", "", code[m.start():m.start() + 400])
            row = next((r for r in open_rows if r[1] == name and here.startswith(r[2])), None)
            if row is not None:
                open_rows.remove(row)
            else:
                line = code.count("\n", 0, m.start()) + 1
                bad.append(f"include/heist/{name}:{line}: {code[m.start():code.find(chr(10), m.start())].strip()}: "
                           "not in tests/faults/fault_sites.hpp; add a line there, and a test that refuses it")
    bad += [f"tests/faults/fault_sites.hpp: {{{site or 'cannot fail'}, {file}, {code}}}: no such place in the header"
            for site, file, code in open_rows]
    if not places:
        bad.append(f"nothing was found under {INCLUDE}")
    print("\n".join(bad) or f"fault sites ok: {places} places, {len(sites())} sites, "
                            f"{sum(s is None for s, _, _ in rows)} places that cannot fail")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(check())
