#!/usr/bin/env python3
"""Checks benchmarks/measure/measure.py with a program, bench_measure or one that stands in for it: script_check.py PROGRAM.

What it writes is whole, also when a signal ends it; the page is well formed and refers to nothing outside; two files can be compared.
It judges no figure."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from page_check import Page

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "benchmarks/measure/measure.py"
STANDS_IN = sys.argv[1].endswith(".py")
# bench_measure: a row of each kind; a whole run is slow on a busy machine.
SOME = [] if STANDS_IN else ["--row", "e"]


def call(*arguments, environment=None, status=0):
    done = subprocess.run([sys.executable, "-B", SCRIPT, *map(str, arguments)], capture_output=True, text=True, timeout=600,
                          env={**os.environ, **(environment or {})})
    assert done.returncode == status, f"{arguments} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done


def fields(value, wanted, where):
    """`wanted`: names with types; a name that ends in ? may be missing."""
    for name, kind in wanted.items():
        if name.endswith("?") and name[:-1] not in value:
            continue
        name = name.rstrip("?")
        assert name in value, f"{where} has no {name}"
        assert isinstance(value[name], kind), f"{where}: {name} is {value[name]!r}"


NUMBER, OPTIONAL_BOOL = (int, float), (bool, type(None))
TOP = {"schema": str, "version": int, "run": dict, "machine": dict, "preconditions": list, "rows": list, "left_out": list, "conclusions": list}
RUN = {"mode": str, "rounds": int, "workers": list, "arguments": list, "date": str, "seconds": NUMBER, "ended": str}
MACHINE = {"cpu": str, "text": str, "pus": int, "cores": int, "numa_nodes": int, "l2_bytes": int, "l3_bytes": int, "usable_workers": int,
           "quota_cpus": (int, float, type(None)), "hwloc": (dict, type(None)), "counters": dict, "frequency": dict, "memory": dict,
           "others_cpus": NUMBER, "container": (str, type(None)), "huge_pages": (str, type(None)), "compiler": str, "heist": str, "virtual": bool, "streams": dict}
PRECONDITION = {"name": str, "met": OPTIONAL_BOOL, "found": str, "why": str, "fix": str}
ROW = {"family": str, "group": str, "row": str, "what": str, "unit": str, "size": str, "bytes?": int, "figures": list, "seconds": NUMBER,
       "others_cpus": NUMBER, "squads?": str, "steps?": int, "explained?": dict, "recorded?": str}
FIGURE = {"variant": str, "workers": int, "samples": list, "median": NUMBER, "min": NUMBER, "max": NUMBER, "repeats?": int, "waited?": NUMBER,
          "p99?": NUMBER, "posts?": int, "simulated?": dict}


def check_result(folder):
    """The two files of a run; returns the result."""
    result = json.loads((folder / "heist-measure.json").read_text(encoding="utf-8"))
    fields(result, TOP, "the result")
    assert (result["schema"], result["version"]) == ("heist-measure", 1)
    fields(result["run"], RUN, "run")
    fields(result["machine"], MACHINE, "machine")
    for p in result["preconditions"]:
        fields(p, PRECONDITION, p["name"])
        for text in (p["found"], p["why"]):
            assert re.fullmatch(r"[A-Z].*\.", text), text
    for r in result["rows"]:
        fields(r, ROW, r["row"])
        assert r["figures"], f"{r['row']} has no figures"
        for f in r["figures"]:
            fields(f, FIGURE, r["row"])
            assert f["min"] <= f["median"] <= f["max"] and f["samples"], f
    for x in result["left_out"]:
        fields(x, {"family": str, "row": str, "why": str}, "left_out")
    for c in result["conclusions"]:
        assert re.fullmatch(r"\S.*\.", c["text"]), c
    text = (folder / "heist-measure.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.seen.get("svg", 0) > len({r["family"] for r in result["rows"]}), page.seen
    assert "prefers-color-scheme: dark" in text and "width=device-width" in text and "Nothing was sent" in text
    assert not any(name.suffix == ".new" for name in folder.iterdir())
    return result


def check_run(scratch):
    done = call("--tiny", "--program", sys.argv[1], "--output", scratch / "a", *SOME)
    assert "left" in done.stderr and "precondition" in done.stdout
    result = check_result(scratch / "a")
    assert result["run"]["ended"] == "finished" and not result["left_out"], result["left_out"]
    assert {r["family"] for r in result["rows"]} == {"scaling", "policies", "idle", "forecast"}
    assert call("page", scratch / "a/heist-measure.json").stdout == (scratch / "a/heist-measure.html").read_text(encoding="utf-8")


def check_interrupted(scratch):
    """SIGINT half way: status 130, complete rows are kept, the others are named."""
    for name, number in (("int", signal.SIGINT), ("term", signal.SIGTERM)):
        folder = scratch / name
        script = subprocess.Popen([sys.executable, "-B", SCRIPT, "--tiny", "--program", sys.argv[1], "--output", folder, *SOME],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "HEIST_STAND_IN_PAUSE": "0.3"})
        while script.poll() is None and not (folder / "heist-measure.html").exists():
            time.sleep(0.01)
        script.send_signal(number)
        out, errors = script.communicate(timeout=300)
        assert script.returncode == 130, (script.returncode, out, errors)
        result = check_result(folder)
        assert result["run"]["ended"] == "interrupted" and result["rows"] and result["left_out"]
        assert "interrupted" in out and "The measurement was interrupted" in (folder / "heist-measure.html").read_text(encoding="utf-8")
        if not STANDS_IN:
            break


def check_compare(scratch):
    a = json.loads((scratch / "a/heist-measure.json").read_text(encoding="utf-8"))
    same = call("compare", scratch / "a/heist-measure.json", scratch / "a/heist-measure.json").stdout
    assert "are the same" in same and "0 are lower in B and 0 are higher" in same, same
    for row in a["rows"]:
        for f in row["figures"]:
            if row["family"] == "scaling":
                f.update(samples=[f["median"] * x for x in (0.999, 1, 1.001)], min=0.999 * f["median"], max=1.001 * f["median"])
    (scratch / "b.json").write_text(json.dumps(a), encoding="utf-8")
    a["machine"]["cpu"], a["rows"][-1]["size"] = "another", "another"
    for row in a["rows"]:
        for f in row["figures"]:
            if row["family"] == "scaling" and f["variant"] == "heist":
                f.update({k: f[k] / 2 for k in ("median", "min", "max")}, samples=[x / 2 for x in f["samples"]])
    (scratch / "c.json").write_text(json.dumps(a), encoding="utf-8")
    text = call("compare", scratch / "b.json", scratch / "c.json").stdout
    halved = sum(f["variant"] == "heist" for r in a["rows"] if r["family"] == "scaling" for f in r["figures"])
    assert f"{halved} are lower in B and 0 are higher" in text and "another" in text and "Not compared" in text, text
    (scratch / "d.json").write_text('{"schema": "other"}', encoding="utf-8")
    for wrong in ("d.json", "missing.json"):
        errors = call("compare", scratch / "b.json", scratch / wrong, status=1).stderr
        assert errors.startswith("measure.py: ") and errors.count("\n") == 1, errors


def check_refusals(scratch):
    assert "there is no family 'nothing'" in call("--only", "nothing", status=2).stderr
    assert "has 'nothing' in its name" in call("--tiny", "--program", sys.argv[1], "--row", "nothing", "--output", scratch / "e", status=1).stderr
    assert "measure.py: " in call("--program", scratch / "missing", status=1).stderr
    help_text = subprocess.run(["sh", ROOT / "cmake/measure.sh", "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "--quick" in help_text and "compare A.json B.json" in help_text
    if STANDS_IN:
        done = call("--tiny", "--program", sys.argv[1], "--output", scratch / "f", environment={"HEIST_STAND_IN_FAILS": "heat"}, status=1)
        assert "the result is wrong" in done.stderr
        assert [x["row"] for x in check_result(scratch / "f")["left_out"]] == ["heat"]
    else:
        refused = subprocess.run([sys.argv[1], "scaling", "--workers", "1,,2"], capture_output=True, text=True, timeout=60)
        assert refused.returncode != 0 and "a number is missing" in refused.stderr


with tempfile.TemporaryDirectory() as name:
    for check in (check_run, check_interrupted, check_compare, check_refusals):
        begin = time.monotonic()
        check(pathlib.Path(name))
        print(f"{check.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
