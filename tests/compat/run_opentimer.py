#!/usr/bin/env python3
"""Runs OpenTimer, a timing analyser, on heist: run_opentimer.py [OPENTIMER_CHECKOUT] [--only NAME,...] [--rounds N].

The checkout is a clone of https://github.com/OpenTimer/OpenTimer, or what OPENTIMER_DIR names; seen with e2ba14a. Its program ot-tau15 is
compiled twice as it is: with the Taskflow that it has, and with include/heist/compat/taskflow in place of that. Both time all
benchmark circuits. Prints for each circuit whether the two outputs are the same, and the seconds of the whole program: medians
of --rounds alternating runs."""
import concurrent.futures
import pathlib
import statistics
import subprocess
import sys
import time

import runner


def more(parser):
    parser.add_argument("--rounds", type=int, default=1)


wanted, checkout, circuits, build = runner.arguments(__doc__, "OPENTIMER_DIR", "benchmark", "build/compat_opentimer", more)
checkout = checkout.resolve()
build = build.resolve()

# OpenTimer names its own copy of Taskflow <ot/taskflow/...>; in this folder the layer has these names.
names = build / "names" / "ot" / "taskflow"
for header in ["taskflow.hpp", "algorithm/reduce.hpp"]:
    (names / header).parent.mkdir(parents=True, exist_ok=True)
    (names / header).write_text(f"#include <taskflow/{header}>\n")
config = build / "config" / "ot"  # what OpenTimer's build writes
config.mkdir(parents=True, exist_ok=True)
values = {"VERSION": "2.1.0", "HOME": checkout, "INSTALL_PREFIX": build, "TCLSH_PATH": "tclsh", "HOST_SYSTEM": "Linux"}
(config / "config.hpp").write_text("".join(f'#define OT_{name} "{value}"\n' for name, value in values.items()))
(build / "bodies.cpp").write_text("#include <heist/src.hpp>\n")

common = ["-std=c++20", *wanted.flags.split(), "-w", "-pthread"]
layer = ["-DHEIST_SEPARATE_COMPILATION", f"-I{build}/names", f"-I{runner.ROOT}/include/heist/compat/taskflow",
         f"-I{runner.ROOT}/include"]
own = [f"-I{build}/config", f"-I{checkout}"]
kinds = {"taskflow": [*common, *own], "heist": [*common, *layer, *own]}
runner.prepare(wanted.cxx, kinds["heist"], build, [("bodies.o", ["-c", f"{build}/bodies.cpp"], False)])

sources = sorted(p for folder in ["liberty", "sdc", "spef", "tau", "timer", "unit", "utility", "verilog"]
                 for p in (checkout / "ot" / folder).glob("*.cpp"))
sources.append(checkout / "main" / "tau15" / "tau15.cpp")


def compile_one(job):
    kind, path = job
    made = build / f"{kind}-{path.parent.name}-{path.stem}.o"
    if runner.is_new(made, kind == "heist") or (kind == "taskflow" and made.exists()):
        return made, ""
    return made, runner.compiled(wanted.cxx, [*kinds[kind], "-c", str(path), "-o", str(made)])


for kind in kinds:
    with concurrent.futures.ThreadPoolExecutor(wanted.jobs) as pool:
        objects = list(pool.map(compile_one, [(kind, p) for p in sources]))
    for made, error in objects:
        if error:
            sys.exit(f"{made.name}: {error}")
    libraries = [f"{build}/bodies.o", *runner.LIBRARIES] if kind == "heist" else ["-pthread"]
    if error := runner.compiled(wanted.cxx, [*(str(made) for made, _ in objects), *libraries, "-o", f"{build}/{kind}"]):
        sys.exit(error)


def run(kind, circuit):
    """(seconds, the output)"""
    name, output = circuit.name, build / f"{kind}-{circuit.name}.output"
    output.unlink(missing_ok=True)
    began = time.monotonic()
    subprocess.run([build / kind, f"{name}.tau2015", f"{name}.timing", f"{name}.ops", output], cwd=circuit,
                   capture_output=True, timeout=runner.LIMIT, check=True)
    return time.monotonic() - began, output.read_bytes()


def complete(circuit):
    """Has the checkout all files of the circuit?"""
    name = circuit.name
    needed = [f"{name}{end}" for end in (".tau2015", ".timing", ".ops")]
    if not all((circuit / f).is_file() for f in needed):
        return False
    return all((circuit / f).is_file() for f in (circuit / f"{name}.tau2015").read_text().split())


print(f"{'circuit':16}{'output':>10}{'Taskflow':>10}{'heist':>10}{'ratio':>8}")
different = 0
for circuit in sorted(p for p in circuits.iterdir() if p.is_dir()):
    if wanted.only and circuit.name not in wanted.only.split(","):
        continue
    if not complete(circuit):
        print(f"{circuit.name:16}{'skipped: the checkout lacks files of it':>50}", flush=True)
        continue
    seconds = {kind: [] for kind in kinds}
    same = True
    for _ in range(wanted.rounds):
        outputs = []
        for kind in kinds:
            took, output = run(kind, circuit)
            seconds[kind].append(took)
            outputs.append(output)
        same = same and outputs[0] == outputs[1] and outputs[0] != b""
    different += not same
    before, now = (statistics.median(seconds[kind]) for kind in ("taskflow", "heist"))
    print(f"{circuit.name:16}{'same' if same else 'DIFFERS':>10}{before:10.2f}{now:10.2f}{now / before:8.2f}", flush=True)
sys.exit(different != 0)
