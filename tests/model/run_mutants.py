#!/usr/bin/env python3
"""Seeds bugs into copies of the shipped headers and counts how many the model notices.

mutants*.txt list them. All bugs of one program are compiled into it at once, each behind a test of model::mutant;
shipped code never contains such a test. Prints one line per bug that is not noticed, then the totals.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shlex
import subprocess
import sys

KILLED = 10  # model::suite::killed


class Mutant:
    """One record of mutants.txt."""

    def __init__(self, number, fields):
        self.number = number
        self.program = fields["program"]
        self.file = fields["file"]
        self.bug = fields["bug"]
        self.replacement = fields.get("with", "")
        self.occurrence = int(fields.get("occurrence", "0"))
        self.argued = fields.get("argued", "")
        self.before, rest = fields["find"].replace("\\n", "\n").split("[[", 1)
        self.marked, self.after = rest.split("]]", 1)

    def span(self, text):
        """Where the marked part is in the file."""
        context = self.before + self.marked + self.after
        position = -1
        for _ in range(max(1, self.occurrence)):
            position = text.find(context, position + 1)
        if position < 0:
            sys.exit(f"mutants.txt, '{self.bug}': {self.file} does not contain: {context}\n"
                     "fix it by giving the line as it is now")
        if self.occurrence == 0 and text.find(context, position + 1) >= 0:
            sys.exit(f"mutants.txt, '{self.bug}': {self.file} contains this more than once: {context}\n"
                     "fix it by giving more of the line, or an occurrence")
        start = position + len(self.before)
        return start, start + len(self.marked)


def read_lists(folder):
    mutants, fields = [], {}
    for line in [line for path in sorted(folder.glob("mutants*.txt")) for line in path.read_text().splitlines() + [""]]:
        if line.startswith("#"):
            continue
        if not line.strip():
            if fields:
                mutants.append(Mutant(len(mutants) + 1, fields))
            fields = {}
            continue
        key, _, value = line.partition(" ")
        fields[key] = value.strip()
    return mutants


def mutate(text, mutants):
    """The text in which every mutant is a branch."""
    spans = {}
    for m in mutants:
        spans.setdefault(m.span(text), []).append(m)

    def emit(low, high, inside):
        out, at = "", low
        outer = sorted(s for s in inside if not any(o != s and o[0] <= s[0] and s[1] <= o[1] for o in inside))
        for s in outer:
            if s[0] < at:
                sys.exit(f"mutants.txt: '{spans[s][0].bug}' overlaps another one")
            nested = [i for i in inside if i != s and s[0] <= i[0] and i[1] <= s[1]]
            code = emit(s[0], s[1], nested)
            for m in spans[s]:
                if m.marked.rstrip().endswith(";"):
                    code = f"if (model::mutant == {m.number}) {{ {m.replacement} }} else {{ {code} }}"
                else:
                    code = f"(model::mutant == {m.number} ? ({m.replacement}) : ({code}))"
            out += text[at:s[0]] + code
            at = s[1]
        return out + text[at:high]

    return emit(0, len(text), list(spans))


def build(program, mutants, options):
    """Compiles `program` against the mutated copies; returns the executable."""
    folder = options.build / program
    source = options.source / "tests/model" / f"{program}.cpp"
    by_file = {}
    # Whole executors are built with headers that stand for some of the shipped ones.
    world = "tests/model/world/include"
    worlds = [f"-I{folder}/{world}", f"-I{options.source}/{world}"] if '"world/' in source.read_text() else []
    for m in mutants:
        by_file.setdefault(m.file, []).append(m)
    for file, of_file in by_file.items():
        original = options.source / file
        copy = folder / (file if file.startswith(("include/", world)) else original.name)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text('#include "engine/mutant.hpp"\n' + f'#line 1 "{original}"\n' +
                        mutate(original.read_text(), of_file))
        if original == source:
            source = copy
    executable = folder / "mutants"
    command = [options.compiler, "-std=c++20", "-O2", "-w", *worlds, f"-I{folder}/include", f"-I{options.source}/include",
               f"-I{options.source}/tests/model", *shlex.split(options.flags), str(source), "-o", str(executable),
               *shlex.split(options.libraries)]
    subprocess.run(command, check=True)
    return executable


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, default=here.parent.parent)
    parser.add_argument("--build", type=pathlib.Path, help="a folder for the copies and programs")
    parser.add_argument("--only-find", action="store_true", help="only see whether the code has the lines that change")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
    parser.add_argument("--flags", default="")
    parser.add_argument("--libraries", default="-lboost_context")
    parser.add_argument("--seconds", type=float, default=1, help="limit of time per harness")
    parser.add_argument("--program", help="only the bugs of this one")
    parser.add_argument("--jobs", type=int, default=1, help="so many at once")
    parser.add_argument("--verbose", action="store_true", help="say also what killed each")
    options = parser.parse_args()

    mutants = [m for m in read_lists(here) if options.program in (None, m.program)]
    if options.only_find:
        for m in mutants:
            m.span((options.source / m.file).read_text())
        print(f"mutants ok: the lines of {len(mutants)}")
        return 0
    if options.build is None:
        parser.error("--build is missing")
    killed = argued = 0
    wrong = []
    programs = sorted({m.program for m in mutants})

    def run(m):
        # Most are noticed at once, but not by the first harness: none is given long before all have been tried.
        for seconds in (0.1,) if m.argued else (0.02, 0.1, options.seconds):
            done = subprocess.run([executables[m.program], "--mutant", str(m.number), "--seconds", str(seconds)],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            if done.returncode == KILLED:
                break
        return done

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        made = pool.map(lambda name: build(name, [m for m in mutants if m.program == name], options), programs)
        executables = dict(zip(programs, made))
        for m, done in zip(mutants, pool.map(run, mutants)):
            dead = done.returncode == KILLED
            killed += dead
            if not dead and m.argued:
                argued += 1
            elif dead == bool(m.argued):
                wrong.append(m)
            if options.verbose or (not dead and not m.argued):
                word = "killed" if dead else "argued" if m.argued else "SURVIVED"
                reason = done.stdout.splitlines()[-3:] if dead else []
                print(f"mutant   {word:8} {m.program}: {m.bug}" + "".join("\n           " + r.strip() for r in reason))
                sys.stdout.flush()
    for m in wrong:
        if m.argued:
            print(f"mutant   '{m.bug}' is argued to be equivalent, but the model notices it")
    survived = len(mutants) - killed - argued
    print(f"mutants  seeded {len(mutants)}  killed {killed}  argued equivalent {argued}  survived {survived}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
