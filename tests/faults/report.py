#!/usr/bin/env python3
"""Adds up what the programs of tests/faults have written to the file that HEIST_FAULTS_REPORT named.

Usage: report.py FILE. Prints a line for each site and, last, the sums. Fails if a site was never refused, if a program
has not reported, and on any hang, leak or crash. Under sanitizers, sites that only exist without them may be missing.
"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
from sites_check import sites  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
NOT_UNDER_SANITIZERS = {"handler stack size", "handler stack", "handler stack off", "overflow handler",
                        "overflow handler off", "overflow message"}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    path = pathlib.Path(sys.argv[1])
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    runs = {}
    for line in lines:  # of a program that ran more than once, the last run counts
        run = json.loads(line)
        runs[run["program"].removeprefix("faults_")] = run
    bad = [f"tests/faults/{p.name}: has not reported, so it has crashed or has not been run"
           for p in sorted(HERE.glob("*_test.cpp")) if p.name.removesuffix("_test.cpp") not in runs]
    crashes = len(bad) + sum(r["crashes"] for r in runs.values())
    sanitized = any(r["sanitized"] for r in runs.values())
    fired = absent = injected = 0
    for site in sites():
        by = {name: r["sites"][site] for name, r in sorted(runs.items()) if site in r["sites"]}
        reached, refused = (sum(counts[i] for counts in by.values()) for i in (0, 1))
        fired += refused > 0
        injected += refused
        where = ", ".join(name for name, counts in by.items() if counts[1])
        print(f"site {site:22} reached {reached:9} injected {refused:8}  {where}")
        if refused == 0:
            if sanitized and site in NOT_UNDER_SANITIZERS:
                absent += 1
                print("skipped: the sanitizers bring their own")
            else:
                bad.append(f"site '{site}' has never been refused")
    hangs, leaks, skipped = (sum(r[key] for r in runs.values()) for key in ("hangs", "leaks", "skipped"))
    print("\n".join(bad), end="\n" if bad else "")
    print(f"faults   sites {len(sites()) - absent}  fired {fired}  injected {injected}  hangs {hangs}  leaks {leaks}  "
          f"crashes {crashes}  programs {len(runs)}  skipped {skipped}")
    return bool(bad or hangs or leaks or crashes)


if __name__ == "__main__":
    sys.exit(main())
