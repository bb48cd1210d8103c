"""Starts gdb on stands_still and on its core files: run.py GDB PROGRAM SCRIPT. Beginning with "auto:", SCRIPT is what the
program itself names and gdb is to find."""
import pathlib
import platform
import re
import resource
import subprocess
import sys
import tempfile

gdb, program, script = sys.argv[1], str(pathlib.Path(sys.argv[2]).resolve()), sys.argv[3]
here = pathlib.Path(__file__).resolve().parent
CASES = ["event", "limiters", "flow", "coroutine", "mutexes", "join"]
has_stacks = platform.machine() == "x86_64"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(0)


def in_gdb(*arguments):
    return subprocess.run([gdb, "-nx", "-batch", *arguments], capture_output=True, text=True, errors="replace", timeout=600,
                          stdin=subprocess.DEVNULL, check=False)


def run(mode, files, wanted=()):
    """One gdb on a program, its core or its arguments. True: all checks have passed."""
    loads = [] if script.startswith("auto:") else ["-ex", f"source {script}"]
    allows = ["-iex", f"add-auto-load-safe-path {pathlib.Path(script.removeprefix('auto:')).parent}"]
    done = in_gdb("-iex", "set debuginfod enabled off", "-iex", "set disable-randomization off", *allows, "-ex",
                  "set width 0", "-ex", "set confirm off", *loads, "-ex",
                  f"python mode = '{mode}'; has_stacks = {has_stacks}", *wanted, "-x", str(here / "in_gdb.py"), *files)
    passed = f"heist: 0 checks failed in mode {mode}" in done.stdout
    print(f"---- {mode}\n{done.stdout}")
    if not passed:
        print(done.stderr)
    return passed


def core_of(folder):
    """A core file that the kernel writes or, where it gives it to a program, gdb."""
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text(encoding="utf-8").strip()
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    if "/" not in pattern and most != 0:
        subprocess.run([program, *CASES, "abort"], cwd=folder, check=False, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)))
        found = list(pathlib.Path(folder).iterdir())
        if found:
            return found[0]
    path = pathlib.Path(folder) / "core.gdb"
    in_gdb("-iex", "set debuginfod enabled off", "-iex", "set disable-randomization off", "-ex", "break stands_still", "-ex", "run",
           "-ex", f"generate-core-file {path}", "--args", program, "unguarded", *CASES)
    return path


if in_gdb("-ex", "python print('has Python')").stdout.find("has Python") < 0:
    skip("this gdb has no Python")
tried = in_gdb("-iex", "set disable-randomization off", "-ex", "run", "--args", sys.executable, "-c", "")
if "exited normally" not in tried.stdout:
    skip("gdb may not trace programs here: " + re.sub(r"\s+", " ", tried.stderr[-200:]))

passed = run("live", ["--args", program, *CASES])
passed &= run("crash", ["--args", program, "crash"])
passed &= run("corrupt", ["--args", program, "mutexes"])
with tempfile.TemporaryDirectory() as folder:
    passed &= run("core", [program, str(core_of(folder))])
sys.exit(0 if passed else 1)
