#!/usr/bin/env python3
"""Checks benchmarks/measure/peers.py with programs that stand in: its table, its page, its file, limits and signals. It judges no figure."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from page_check import Page

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

PROGRAMS = ["bench_fork_join_heist", "bench_fork_join_tbb", "bench_fork_join_openmp", "bench_graph_heist", "bench_graph_tbb", "bench_graph_taskflow",
            "algorithms/bench_algorithms", "dynamic/bench_dynamic"]


def start(scratch, output, *arguments, **environment):
    return subprocess.Popen([sys.executable, "-B", ROOT / "benchmarks/measure/peers.py", "--programs", scratch / "programs", "--output", scratch / output, *arguments],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})


def end(script, status=0):
    out, errors = script.communicate(timeout=100)
    assert script.returncode == status, (script.returncode, out, errors)
    return out, errors


def result_of(folder):
    result = json.loads((folder / "compare.json").read_text(encoding="utf-8"))
    assert (result["schema"], result["version"]) == ("heist-compare", 1)
    for r in result["rows"]:
        assert r["figures"][0]["variant"] == "heist", r
        for f in r["figures"]:
            assert f["min"] <= f["median"] <= f["max"] and f["samples"], f
    text = (folder / "compare.html").read_text(encoding="utf-8")
    assert Page(text).seen.get("svg", 0) == len(result["rows"])
    assert "prefers-color-scheme: dark" in text and "Nothing was sent" in text
    assert not any(name.suffix == ".new" for name in folder.iterdir())
    return result


def check_run(scratch):
    out, errors = end(start(scratch, "a"))
    assert "left" in errors
    result = result_of(scratch / "a")
    assert result["run"]["ended"] == "finished" and not result["left_out"] and result["run"]["workers"] == [1, 2]
    found = {(r["row"], r["workers"]): r for r in result["rows"]}
    assert len(found) == 2 + 4 + 2 * 6 + 2 * 6, sorted(found)
    for row, best, difference in ((("fib", 2), "OpenMP", "none"), (("later runs: random", 2), "Taskflow", "slower"), (("flow: heat", 1), "oneTBB", "faster"),
                                  (("reduce", 1), "std par", "none")):
        r = found[row]
        assert (r["best_peer"], r["difference"]) == (best, difference), r
        assert all(len(f["samples"]) == 5 for f in r["figures"])
    short = [s.startswith("Falls short: ") for s in result["summary"]]
    assert any(short) and short == sorted(short, reverse=True), result["summary"]
    assert "| flow: heat, a task " in out and "heist / best peer" in out and "- Falls short: " in out


def check_fewer_peers_and_failures(scratch):
    end(start(scratch, "b", "--row", "fork/join", "--rounds", "2", HEIST_STAND_IN_FAILS="bench_fork_join_tbb"), status=1)
    result = result_of(scratch / "b")
    assert result["columns"] == ["heist", "OpenMP"] and [x["call"] for x in result["left_out"]] == ["fib, oneTBB, 1 worker", "fib, oneTBB, 2 workers"], result["left_out"]
    assert "no row has 'nothing'" in end(start(scratch, "c", "--row", "nothing"), status=1)[1]


def check_limit(scratch):
    """Five rounds do not fit: calls are left out, and the script ends in time. Building counts, but 2 minutes are kept."""
    begin = time.monotonic()
    out, _ = end(start(scratch, "d", "--minutes", "0.05", "--row", "graphs", HEIST_STAND_IN_PAUSE="0.1"))
    result = result_of(scratch / "d")
    assert time.monotonic() - begin < 30 and result["left_out"] and "Left out" in out, out
    assert "takes 2 min 00 s at most" in end(start(scratch, "e", "--spent", "3000", "--row", "fib", "--rounds", "1"))[0]


def check_interrupted(scratch):
    for name, number in (("int", signal.SIGINT), ("term", signal.SIGTERM)):
        script = start(scratch, name, "--row", "graphs", "--rounds", "50", HEIST_STAND_IN_PAUSE="0.01")
        while script.poll() is None and not (scratch / name / "compare.html").exists():
            time.sleep(0.01)
        script.send_signal(number)
        out, _ = end(script, status=130)
        assert result_of(scratch / name)["run"]["ended"] == "interrupted" and "interrupted" in out


def check_script():
    done = subprocess.run(["sh", ROOT / "cmake/compare.sh", "--help"], capture_output=True, text=True, timeout=60, check=True)
    assert "--minutes" in done.stdout and not done.stderr


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    shutil.copy(HERE / "peers_stand_in.sh", folder / "stand_in.sh")
    (folder / "stand_in.sh").chmod(0o755)
    for program in PROGRAMS:
        (folder / "programs" / program).parent.mkdir(parents=True, exist_ok=True)
        (folder / "programs" / program).symlink_to(folder / "stand_in.sh")
    for check in (check_run, check_fewer_peers_and_failures, check_limit, check_interrupted):
        begin = time.monotonic()
        check(folder)
        print(f"{check.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    check_script()
