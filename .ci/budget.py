#!/usr/bin/env python3
"""What heist's headers cost whoever includes them: GCC's own memory (it follows the compile time, and repeats where seconds
on a shared machine do not), the lines that it reads, the functions that it makes, and the bytes of their code. For the
programs of benchmarks/compile_time/, as headers and for heist::compiled; held against .ci/budget.json.

  budget.py            fails where a number is more than 2 % above the budget
  budget.py --write    makes what is measured the budget; part of the commit that changes it
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUDGET = ROOT / ".ci" / "budget.json"
PROGRAMS = ["executor", "fork", "graph", "algorithm", "all"]
MODES = {"headers": [], "compiled": ["-DHEIST_SEPARATE_COMPILATION"]}
COMPILER = os.environ.get("HEIST_BUDGET_COMPILER", "g++")
UNITS = {"MB": "MB of the compiler's memory", "lines": "lines read", "functions": "functions", "text": "bytes of code"}
MORE = 1.02


def measure(program, mode):
    source = ROOT / "benchmarks" / "compile_time" / f"{program}_heist.cpp"
    # The code has the names of files in it; so their length must not depend on where the tree lies.
    command = [COMPILER, "-std=c++20", "-O2", "-pthread", f"-ffile-prefix-map={ROOT}=.", f"-I{ROOT / 'include'}", *MODES[mode],
               str(source)]

    def run(*more):
        done = subprocess.run(list(more), capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(more)} fails:\n{done.stderr[:2000]}")
        return done

    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "made.o")
        report = run(*command, "-ftime-report", "-c", "-o", made).stderr
        total, unit = re.search(r"TOTAL\s*:.*?(\d+)([kM])", report).groups()
        lines = run(*command, "-E", "-P").stdout.count("\n")
        functions = len(re.findall(r" [tTwW] ", run("nm", made).stdout))
        text = int(run("size", made).stdout.split()[6])
    return {"MB": int(total) // (1 if unit == "M" else 1024), "lines": lines, "functions": functions, "text": text}


def main():
    missing = [tool for tool in (COMPILER, "nm", "size") if shutil.which(tool) is None]
    if missing:
        print(f"budget skipped: there is no {', '.join(missing)}; cmake/packages.sh installs a compiler")
        return
    version = subprocess.run([COMPILER, "-dumpfullversion"], check=True, capture_output=True, text=True).stdout.strip()
    is_gcc = "Free Software Foundation" in subprocess.run([COMPILER, "--version"], capture_output=True, text=True).stdout
    budget = json.loads(BUDGET.read_text()) if BUDGET.exists() else {}
    writes = "--write" in sys.argv[1:]
    if not writes and (not is_gcc or version != budget.get("gcc")):
        print(f"budget skipped: it was measured with GCC {budget.get('gcc')}, and {COMPILER} is another compiler")
        return
    rows = [(p, m) for p in PROGRAMS for m in MODES]
    try:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = dict(zip((f"{p}, {m}" for p, m in rows), pool.map(lambda row: measure(*row), rows)))
    except RuntimeError as fault:
        found = re.search(r"fatal error: (\S+): No such file", str(fault))
        if found is not None and not found[1].startswith("heist/"):
            print(f"budget skipped: {found[1]} is not installed; cmake/packages.sh installs what is missing")
            return
        sys.exit(str(fault))
    if writes:
        text = ",\n".join(f'    "{name}": {json.dumps(row)}' for name, row in found.items())
        BUDGET.write_text(f'{{\n  "gcc": "{version}",\n  "programs": {{\n{text}\n  }}\n}}\n')
        print(f"budget written: {len(found)} programs")
        return
    bad = 0
    for name, row in found.items():
        for what, now in row.items():
            allowed = budget["programs"].get(name, {}).get(what)
            if allowed is None or now > allowed * MORE:
                bad += 1
                print(f"{name}: {now} {UNITS[what]}, and the budget allows {allowed}; fix it by making the headers "
                      "lighter, or, if it is worth that, by python3 .ci/budget.py --write in the same commit")
    if bad:
        sys.exit(1)
    memory = ", ".join(f"{name.removesuffix(', headers')} {row['MB']} MB" for name, row in found.items() if "headers" in name)
    print(f"budget ok: {len(found)} programs; as headers {memory}")


if __name__ == "__main__":
    main()
