#!/usr/bin/env python3
"""Writes the page of a file of results: tables of what `bench_scheduling --json FILE` has measured.

    python3 page.py 2026-11-26-epyc-2-cores.json > 2026-11-26-epyc-2-cores.md

The file is named after the day and the machine. Its `"about"`, added by hand, says what was measured, and with what.
"""
import json
import sys


def tables(rows):
    for workers in sorted({r["workers"] for r in rows}):
        here = [r for r in rows if r["workers"] == workers]
        libraries = list(dict.fromkeys(r["library"] for r in here))
        ratio = {(r["row"], r["library"]): r["ratio"] for r in here}
        yield f"## {workers} workers\n"
        yield "| row | " + " | ".join(libraries) + " |"
        yield "|---|" + "---|" * len(libraries)
        for row in dict.fromkeys(r["row"] for r in here):
            cells = (f"{ratio[row, l]:.2f}" if (row, l) in ratio else "" for l in libraries)
            yield f"| {row} | " + " | ".join(cells) + " |"
        yield ""


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        results = json.load(file)
    if isinstance(results, list):  # as --json writes it
        results = {"about": [], "scheduling": results}
    print(f"# {sys.argv[1].rsplit('/', 1)[-1].removesuffix('.json')}\n")
    print("\n".join(results["about"]) + "\n")
    print("\n".join(tables(results["scheduling"])).rstrip())


main()
